internal import Glibc
internal import SafeFiles
internal import TreeScan

/// Files that are whole or absent, also after a loss of power.
enum SafeFile {
    /// Writes to a temporary file, puts it on the disk, renames it, and puts the name on the disk.
    ///
    /// - Parameters:
    ///   - path: The final path. A file there is replaced.
    ///   - temporary: A path on the same file system that nobody else uses.
    ///   - calls: Asked before each call.
    ///   - owner: The folder whose owner gets a file that root writes.
    /// - Throws: `BackupError`. The temporary file is then removed.
    static func write(
        _ bytes: [UInt8], to path: String, temporary: String, _ calls: StorageCalls, owner: String
    ) throws {
        let file = try NewFile(temporary, for: path, calls, owner: owner)
        try file.write(bytes[...], at: 0)
        try file.synchronize()
        try file.rename(to: path)
        try synchronizeFolder(of: path, calls)
    }

    /// Puts the names in the folder of `path` on the disk.
    static func synchronizeFolder(of path: String, _ calls: StorageCalls) throws {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupError.system("open", folder) }
        defer { close(descriptor) }
        let code = calls.allow(.synchronizeNames) ? FileBytes.synchronizeNames(in: descriptor) : errno
        guard code == 0 else { throw BackupError.system("write", folder, code: code) }
    }

    /// Reads a range of a file, or all of it. The result is shorter if the file is.
    static func read(_ path: String, from offset: Int = 0, count: Int? = nil) throws -> [UInt8] {
        // Without a wait for the other end, should a pipe be there.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw BackupError.system("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw BackupError.system("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw BackupError.system("read", path, code: EISDIR) }
        let there = max(0, Int(status.st_size) - offset)
        let (bytes, code) = FileBytes.read(descriptor, from: offset, count: min(count ?? there, there))
        guard code == 0 else { throw BackupError.system("read", path, code: code) }
        return bytes
    }
}
