internal import Glibc
package import QoSKernel
public import QoSRuntime
import Synchronization

extension QoSFile {
    /// Replaces a file as a whole: after a crash at any point there is the old file or the new one, never a part.
    ///
    /// The body writes a new file beside the old one. Then the call writes the new file to the disk, renames it, and
    /// writes the directory to the disk. If anything fails before it is renamed, or the task is cancelled, the old file
    /// is untouched and the new one is removed. If the directory cannot be written, the new file is there, and a crash
    /// may bring the old one back. A symbolic link is replaced, not its target.
    ///
    /// The new file has the permissions of the old one, without its special bits. Until it is complete, only its owner
    /// has any. In a directory that the user may write and not read, the whole file system is written to the disk at the
    /// end.
    ///
    /// ```swift
    /// try await QoSFile.replace("/srv/state.json") { file in
    ///     try await file.write(bytes, at: 0)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - path: the file. It need not exist; its directory must.
    ///   - throttle: decides when each piece may begin.
    ///   - body: writes the new file, and does not close it.
    /// - Throws: ``FileError``, `CancellationError`, and the errors of the body.
    public static func replace<Success: Sendable>(
        _ path: String, throttle: IOThrottle = .process, _ body: (QoSFile) async throws -> Success
    ) async throws -> Success {
        try await install(path, replacing: true, throttle: throttle, calls: LinuxFileCalls(), body)
    }

    /// Makes a new file beside a path, and gives it the path when it is complete.
    ///
    /// - Parameters:
    ///   - replacing: whether a file with that path may be there.
    ///   - permissions: those of a file that replaces none; `nil` for the usual ones.
    package static func install<Success: Sendable>(
        _ path: String, replacing: Bool, permissions: UInt32? = nil, throttle: IOThrottle, calls: any FileCalls,
        _ body: (QoSFile) async throws -> Success
    ) async throws -> Success {
        try FileError.check(path: path, for: "rename")
        let folder = Self.folder(of: path)
        let temporary = "\(folder)/.\(TemporaryName.next())"
        // The directory first: when the file has its name, nothing may be missing.
        let (directory, kept) = try await throttle.perform(bytes: 0) { _ throws -> (OpenFile?, UInt32?) in
            let directory = try openFolder(folder, calls)
            let old = try permissionsOfFile(path, calls)
            return (directory, old ?? permissions)
        }
        var access = FileAccess.updating(.always)
        if let kept { access.permissions = kept & 0o700 }
        let file = try await open(temporary, access, throttle: throttle, calls: calls)
        file.manners.willSynchronize()
        do {
            let success = try await body(file)
            if let kept { try await file.setPermissions(kept & 0o777) }
            try await file.synchronize()
            // Without a directory, the file's descriptor is needed once more. After fsync(2) it has no errors left.
            if directory != nil { try await file.close() }
            try await throttle.perform(bytes: 0) { [new = file.file] _ throws -> Void in
                let result = giveName(path, to: temporary, replacing: replacing, calls)
                guard result == 0 else { throw FileError("rename", result, path: path) }
                try synchronizeFolder(folder, directory, of: new)
                try? directory?.close()
            }
            if directory == nil { try await file.close() }
            return success
        } catch {
            try? await QoS.withBlocking { () throws -> Void in
                try? directory?.close()
                try file.file.close()
            }
            _ = await QoS.withBlocking { () -> Int32 in calls.remove(temporary) }
            throw error
        }
    }

    /// Opens a directory; `nil` for one that the user may not read.
    private static func openFolder(_ path: String, _ calls: any FileCalls) throws(FileError) -> OpenFile? {
        var descriptor: Int32
        repeat {
            descriptor = calls.open(path, flags: O_RDONLY | O_DIRECTORY, permissions: 0)
        } while descriptor == -EINTR
        if descriptor == -EACCES { return nil }
        guard descriptor >= 0 else { throw FileError("open", descriptor, path: path) }
        return OpenFile(descriptor, path: path, calls: calls)
    }

    /// The permissions of a regular file; `nil` if there is none.
    private static func permissionsOfFile(_ path: String, _ calls: any FileCalls) throws(FileError) -> UInt32? {
        let (result, status) = calls.status(of: path)
        guard result == 0 else { return nil }
        guard status.kind != .directory else {
            throw FileError("rename", EISDIR, path: path, detail: "the path is that of a directory")
        }
        return status.kind == .regular ? status.permissions : nil
    }

    /// Gives a new file its name.
    ///
    /// NFS and many file systems of FUSE cannot rename to a free name only. There link(2) does the same. Where that is
    /// missing, too, a file that another program makes between the look and the rename is replaced.
    ///
    /// - Returns: 0, or the negated error number.
    private static func giveName(
        _ path: String, to temporary: String, replacing: Bool, _ calls: any FileCalls
    ) -> Int32 {
        let renamed = calls.rename(temporary, to: path, replacing: replacing)
        guard !replacing, [EINVAL, ENOSYS, EOPNOTSUPP].contains(-renamed) else { return renamed }
        let linked = calls.link(temporary, to: path)
        if linked == 0 {
            // The file has its name. A failure leaves it a second one.
            _ = calls.remove(temporary)
            return 0
        }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(-linked) else { return linked }
        let found = calls.status(of: path).result
        guard found == -ENOENT else { return found == 0 ? -EEXIST : found }
        return calls.rename(temporary, to: path, replacing: true)
    }

    /// Writes a directory to the disk, so that a new name in it survives a crash.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - directory: the directory; `nil` for one that may not be read. Then its file system is written.
    ///   - new: the file that has the new name.
    private static func synchronizeFolder(_ path: String, _ directory: OpenFile?, of new: OpenFile) throws {
        let (file, call) = directory.map { ($0, "fsync") } ?? (new, "syncfs")
        try file.use(for: call) { descriptor in
            var result: Int32
            repeat {
                result =
                    directory == nil
                    ? file.calls.synchronizeFileSystem(descriptor)
                    : file.calls.synchronize(descriptor, dataOnly: false)
            } while result == -EINTR
            // Some file systems have no fsync for directories.
            guard result == 0 || result == -EINVAL || result == -ENOSYS else {
                throw FileError(call, result, path: path)
            }
        }
    }

    /// The directory of a path. As the kernel does, it looks for the byte: a slash and a combining mark behind it are one
    /// character.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let folder = String(path[..<slash])
        return folder.isEmpty ? "/" : folder
    }
}

/// Names of files that nobody else makes.
private enum TemporaryName {
    private static let last = Atomic<UInt64>(0)

    static func next() -> String {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        return "qos-\(getpid())-\(number)-\(String(UInt64.random(in: 0 ... .max), radix: 36)).tmp"
    }
}
