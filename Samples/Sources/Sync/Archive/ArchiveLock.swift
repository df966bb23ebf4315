internal import Glibc
internal import TreeScan

/// Proves that this process alone works on a pair of folders, by an exclusive flock(2).
///
/// The kernel drops the lock at any end of the process. The file has the owner's process id.
final class ArchiveLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock without waiting.
    ///
    /// - Throws: `SyncError.inUse` with the process that has it.
    init(path: String) throws(SyncError) {
        let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw .archive(path: path, detail: SystemError.text(errno)) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(opened)
            close(opened)
            guard code == EWOULDBLOCK else { throw .archive(path: path, detail: SystemError.text(code)) }
            throw .inUse(path: path, process: owner)
        }
        // Only now: an initializer that throws after its last property is set runs `deinit`, which would close the
        // descriptor again. The number may be another thread's by then.
        descriptor = opened
        ftruncate(descriptor, 0)
        let text = "\(getpid())"
        _ = unsafe pwrite(descriptor, text, text.utf8.count, 0)
    }

    deinit {
        // A child process that has not run its program yet has the open file, too. So closing it does not unlock it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func owner(_ descriptor: Int32) -> Int32 {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)) ?? 0
    }
}
