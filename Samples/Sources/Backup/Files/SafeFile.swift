internal import Glibc
internal import TreeScan

/// Files that are whole or absent, also after a loss of power.
enum SafeFile {
    /// Writes to a temporary file, puts it on the disk, renames it, and puts the name on the disk.
    ///
    /// - Parameters:
    ///   - path: The final path. A file there is replaced.
    ///   - temporary: A path on the same file system that nobody else uses.
    /// - Throws: `BackupError`. The temporary file is then removed.
    static func write(_ bytes: [UInt8], to path: String, temporary: String) throws {
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw BackupError.system("create", temporary) }
        var isClosed = false
        do {
            try writeAll(bytes, to: descriptor, path: path)
            guard fsync(descriptor) == 0 else { throw BackupError.system("write", path) }
            isClosed = true
            guard close(descriptor) == 0 else { throw BackupError.system("write", path) }
            guard unsafe rename(temporary, path) == 0 else { throw BackupError.system("rename", path) }
        } catch {
            if !isClosed { close(descriptor) }
            unsafe unlink(temporary)
            throw error
        }
        try synchronizeFolder(of: path)
    }

    /// Writes all bytes at the descriptor's position.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw BackupError.system("write", path)
            }
        }
    }

    /// Puts the names in the folder of `path` on the disk.
    static func synchronizeFolder(of path: String) throws {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupError.system("open", folder) }
        defer { close(descriptor) }
        // Some file systems have no fsync of folders, and say so.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw BackupError.system("write", folder) }
    }

    /// Reads a range of a file, or all of it. The result is shorter if the file is.
    static func read(_ path: String, from offset: Int = 0, count: Int? = nil) throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw BackupError.system("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw BackupError.system("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw BackupError.system("read", path, code: EISDIR) }
        let there = max(0, Int(status.st_size) - offset)
        let (bytes, code) = read(descriptor, from: offset, count: min(count ?? there, there))
        guard code == 0 else { throw BackupError.system("read", path, code: code) }
        return bytes
    }

    /// Reads up to `count` bytes, pread(2), and the error number, or 0.
    static func read(_ descriptor: Int32, from offset: Int, count: Int) -> (bytes: [UInt8], code: Int32) {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let got = unsafe pread(descriptor, buffer.baseAddress?.advanced(by: done), count - done, offset + done)
                if got == 0 { return }
                if got > 0 {
                    done += got
                } else if errno != EINTR {
                    code = errno
                    return
                }
            }
        }
        return (bytes, code)
    }
}
