import Foundation

/// A file to which results are appended, one object of JSON a line.
struct JSONLines {
    private let path: String?

    /// - Parameter path: The path of the file; nil to write nothing.
    init(_ path: String?) throws {
        self.path = path
        guard let path, !FileManager.default.fileExists(atPath: path) else { return }
        try Data().write(to: URL(filePath: path))
    }

    /// Appends a result.
    func write(_ value: some Encodable) throws {
        guard let path else { return }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: JSONEncoder().encode(value) + Data("\n".utf8))
    }
}
