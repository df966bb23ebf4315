internal import Foundation
internal import Glibc

/// A folder for one test, removed at the end of its life.
public final class TemporaryFolder: Sendable {
    /// Its absolute path without links.
    public let path: String

    /// Makes the folder with mkdtemp(3).
    public init() throws {
        var template = Array((NSTemporaryDirectory() + "/qos-samples-XXXXXX").utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw failure("mkdtemp") }
        guard let real = unsafe realpath(made, nil) else { throw failure("realpath") }
        path = unsafe String(cString: real)
        unsafe free(real)
    }

    deinit {
        // A folder that a test left without rights could not be emptied.
        let names = FileManager.default.enumerator(atPath: path)
        while let name = names?.nextObject() as? String {
            var status = stat()
            guard unsafe lstat(self[name], &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
            _ = unsafe chmod(self[name], 0o700)
        }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The absolute path of an entry.
    public subscript(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file, and makes the folders above it.
    public func write(_ name: String, _ text: String) throws {
        try write(name, bytes: Array(text.utf8))
    }

    /// Writes a file, and makes the folders above it.
    public func write(_ name: String, bytes: [UInt8]) throws {
        let file = URL(fileURLWithPath: self[name])
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: file)
    }

    /// Makes a folder, and those above it.
    public func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
    }

    /// The names of all regular files.
    public func files() throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: path)
        return names.filter { name in
            var status = stat()
            return unsafe lstat(self[name], &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// The text of a file.
    public func read(_ name: String) throws -> String {
        try String(contentsOfFile: self[name], encoding: .utf8)
    }

    /// Removes an entry with everything below it.
    public func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: self[name])
    }

    /// Renames an entry.
    public func rename(_ old: String, _ new: String) throws {
        guard unsafe Glibc.rename(self[old], self[new]) == 0 else { throw failure("rename") }
    }

    /// Sets the rights of an entry.
    public func setMode(_ name: String, _ mode: UInt32) throws {
        guard unsafe chmod(self[name], mode) == 0 else { throw failure("chmod") }
    }

    /// Makes a named pipe.
    public func makePipe(_ name: String) throws {
        guard unsafe mkfifo(self[name], 0o600) == 0 else { throw failure("mkfifo") }
    }

    /// Makes a symbolic link.
    public func makeLink(_ name: String, to target: String) throws {
        guard unsafe symlink(target, self[name]) == 0 else { throw failure("symlink") }
    }

    /// Makes a file of `size` bytes that occupies no room; its content is zeros behind `text`.
    public func makeSparse(_ name: String, _ text: String, size: Int64) throws {
        try write(name, text)
        guard unsafe truncate(self[name], off_t(size)) == 0 else { throw failure("truncate") }
    }
}

private func failure(_ operation: String) -> NSError {
    NSError(domain: operation, code: Int(errno))
}
