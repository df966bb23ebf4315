internal import Glibc
package import QoSKernel
public import QoSRuntime

/// A regular file whose I/O follows the class of the work.
///
/// ```swift
/// let file = try await QoSFile.open("/srv/photos/1.raw")
/// for try await chunk in file.chunks() { hash.update(chunk) }
/// try await file.close()
/// ```
///
/// Each call runs in pieces on a worker of the caller's class, which has the I/O priority of the class. The worker may
/// block there: another one stands in. Between two pieces the call can be cancelled, waits for its throttle, and looks at
/// the class anew, so raised work gets the higher rights at once. The I/O of utility and background leaves nothing in the
/// page cache that was not there before. While the foreground uses the disk, these two classes flush in small steps, if
/// the file was synchronized before. So no later ``synchronize(dataOnly:)`` holds up the disk for long.
///
/// Close the file after its last use. A file without a reference is closed, too, but then nobody sees an error.
///
/// Threading: any thread or task. Offsets are in bytes. All calls throw ``FileError``, and `CancellationError` if the
/// task is cancelled.
public final class QoSFile: Sendable {
    let file: OpenFile
    let throttle: IOThrottle
    let manners: PageCachePolicy
    /// The permission bits at the opening.
    let permissions: UInt32

    /// The path, as it was given.
    public var path: String { file.path }

    private init(_ file: OpenFile, throttle: IOThrottle, status: FileStatus) {
        self.file = file
        self.throttle = throttle
        manners = PageCachePolicy(calls: file.calls, formerSize: status.size)
        permissions = status.permissions
    }

    /// Opens a regular file. Directories, pipes, sockets and devices are refused.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - access: the way in which it is opened.
    ///   - throttle: decides when each piece may begin.
    /// - Throws: ``FileError``, `CancellationError`.
    public static func open(
        _ path: String, _ access: FileAccess = .reading, throttle: IOThrottle = .process
    ) async throws -> QoSFile {
        try await open(path, access, throttle: throttle, calls: LinuxFileCalls())
    }

    /// - Parameter calls: the calls for files; tests let some of them fail.
    package static func open(
        _ path: String, _ access: FileAccess = .reading, throttle: IOThrottle = .process, calls: any FileCalls
    ) async throws -> QoSFile {
        try FileError.check(path: path, for: "open")
        var attempts = Attempts("open", path)
        while true {
            let opened = try await throttle.perform(bytes: 0) { _ throws -> (OpenFile, FileStatus)? in
                try openRegularFile(path, access, calls)
            }
            if let (file, status) = opened { return QoSFile(file, throttle: throttle, status: status) }
            try await attempts.failed()
        }
    }

    /// - Returns: the file; `nil` while another process has a lease of it (fcntl(2)), which the kernel now takes away.
    private static func openRegularFile(
        _ path: String, _ access: FileAccess, _ calls: any FileCalls
    ) throws(FileError) -> (OpenFile, FileStatus)? {
        var descriptor: Int32
        repeat {
            descriptor = calls.open(path, flags: access.flags, permissions: access.permissions)
        } while descriptor == -EINTR
        if descriptor == -EAGAIN { return nil }
        guard descriptor >= 0 else {
            let detail =
                descriptor == -EISDIR
                ? "the path is that of a directory"
                : descriptor == -ENXIO ? "the path is that of a pipe or a device" : ""
            throw FileError("open", descriptor, path: path, detail: detail)
        }
        let file = OpenFile(descriptor, path: path, calls: calls)
        var (result, status) = calls.status(descriptor)
        guard result == 0 else {
            // Nobody else has made it, and nobody would remove it.
            if access.creation == .always { _ = calls.remove(path) }
            throw FileError("fstat", result, path: path)
        }
        guard status.kind == .regular else {
            throw FileError(
                "open", 0, path: path, code: .wrongKind, detail: "the path is that of a \(status.kind.rawValue)")
        }
        guard access.truncates, status.size > 0 else { return (file, status) }
        repeat { result = calls.truncate(descriptor, to: 0) } while result == -EINTR
        guard result == 0 else { throw FileError("ftruncate", result, path: path) }
        status.size = 0
        return (file, status)
    }

    /// Opens a file, runs a body with it, and closes it, also when the body throws.
    ///
    /// - Throws: as ``open(_:_:throttle:)`` and ``close()``, and the errors of the body.
    public static func withFile<Success: Sendable>(
        _ path: String, _ access: FileAccess = .reading, throttle: IOThrottle = .process,
        _ body: (QoSFile) async throws -> Success
    ) async throws -> Success {
        let file = try await open(path, access, throttle: throttle)
        let success: Success
        do {
            success = try await body(file)
        } catch {
            try? await file.close()
            throw error
        }
        try await file.close()
        return success
    }

    /// Closes the file. Calls under way keep the descriptor until they end. A second call does nothing.
    ///
    /// It does not wait for the throttle, and a cancelled task can call it.
    ///
    /// - Throws: ``FileError`` of close(2). It may be about data that was written before: call ``synchronize(dataOnly:)``
    ///   first to be sure.
    public func close() async throws {
        try await QoS.withBlocking { [file] () throws -> Void in try file.close() }
    }

    /// Returns the size in bytes.
    public func size() async throws -> Int64 {
        try await throttle.perform(bytes: 0) { [file] _ throws -> Int64 in
            try file.use(for: "fstat") { descriptor in
                let (result, status) = file.calls.status(descriptor)
                guard result == 0 else { throw FileError("fstat", result, path: file.path) }
                return status.size
            }
        }
    }
}
