import Foundation

/// The package's own files, found from where this file was compiled.
enum SourceTree {
    /// The folder of `Package.swift`.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The text of a file.
    ///
    /// - Parameter path: relative to ``root``.
    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Whether a file is there, under a path relative to ``root``.
    static func hasFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        let isThere = unsafe FileManager.default.fileExists(
            atPath: root.appending(path: path).path(percentEncoded: false), isDirectory: &isFolder)
        return isThere && !isFolder.boolValue
    }

    /// The display names of all tests, as they are written in the files below `Tests`.
    static func testNames() throws -> Set<String> {
        let attribute = /@Test\(\s*"((?:[^"\\]|\\.)*)"/
        var names: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(
            atPath: root.appending(path: "Tests").path(percentEncoded: false))
        where path.hasSuffix(".swift") {
            for match in try text(of: "Tests/" + path).matches(of: attribute) { names.insert(String(match.1)) }
        }
        return names
    }
}
