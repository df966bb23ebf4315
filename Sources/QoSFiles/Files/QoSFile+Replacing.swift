internal import Glibc
package import QoSKernel
public import QoSRuntime
import Synchronization

extension QoSFile {
    /// Replaces a file as a whole: after a crash at any point there is the old file or the new one, never a part.
    ///
    /// The body writes a new file beside the old one. Then the call writes the new file to the disk, renames it, and
    /// writes the directory to the disk. If anything fails, or the task is cancelled, the old file is untouched and the
    /// new one is removed. A symbolic link is replaced, not its target.
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
    /// - Parameter replacing: whether a file with that path may be there.
    package static func install<Success: Sendable>(
        _ path: String, replacing: Bool, throttle: IOThrottle, calls: any FileCalls,
        _ body: (QoSFile) async throws -> Success
    ) async throws -> Success {
        try FileError.check(path: path, for: "rename")
        let folder = Self.folder(of: path)
        let temporary = "\(folder)/.\(TemporaryName.next())"
        var access = FileAccess.updating(.always)
        let (result, old) = calls.status(of: path)
        if result == 0 {
            guard old.kind != .directory else {
                throw FileError("rename", EISDIR, path: path, detail: "the path is that of a directory")
            }
            if old.kind == .regular { access.permissions = old.permissions }
        }
        let file = try await open(temporary, access, throttle: throttle, calls: calls)
        file.manners.willSynchronize()
        do {
            let success = try await body(file)
            try await file.synchronize()
            try await file.close()
            try await throttle.perform(bytes: 0) { _ throws -> Void in
                let result = calls.rename(temporary, to: path, replacing: replacing)
                guard result == 0 else { throw FileError("rename", result, path: path) }
                try synchronizeFolder(folder, calls)
            }
            return success
        } catch {
            try? await QoS.withBlocking { () throws -> Void in
                try file.file.close()
            }
            _ = await QoS.withBlocking { () -> Int32 in calls.remove(temporary) }
            throw error
        }
    }

    /// Writes a directory to the disk, so that a new name in it survives a crash.
    private static func synchronizeFolder(_ path: String, _ calls: any FileCalls) throws(FileError) {
        let descriptor = calls.open(path, flags: O_RDONLY | O_DIRECTORY, permissions: 0)
        guard descriptor >= 0 else { throw FileError("open", descriptor, path: path) }
        let result = calls.synchronize(descriptor, dataOnly: false)
        _ = calls.close(descriptor)
        // Some file systems have no fsync for directories.
        guard result == 0 || result == -EINVAL else { throw FileError("fsync", result, path: path) }
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
