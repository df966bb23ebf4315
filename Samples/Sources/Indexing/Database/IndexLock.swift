internal import Glibc
internal import TreeScan

/// The proof that this process alone uses an index folder: an exclusive flock(2) on `index.lock` in it.
///
/// The kernel drops the lock when the process ends in whatever way. The file holds the owner's process id while the
/// index is open and is emptied by an orderly close, so a file that is not empty tells of an owner that was killed.
final class IndexLock: Sendable {
    /// Whether the last owner did not close the index.
    let wasLeftBehind: Bool

    private let descriptor: Int32
    private let path: String

    /// Takes the lock without waiting.
    init(directory: String) throws(IndexError) {
        let path = directory + "/index.lock"
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .directory(path: directory, reason: "open index.lock: \(SystemError.text(errno))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.read(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw .directory(path: directory, reason: "lock index.lock: \(SystemError.text(code))")
            }
            throw .inUse(directory: directory, process: Int32(owner))
        }
        fchmod(descriptor, 0o600)
        wasLeftBehind = !Self.read(descriptor).isEmpty
        self.descriptor = descriptor
        self.path = path
        write("\(getpid())")
    }

    /// Whether the path still names the file that is locked.
    var isInPlace: Bool {
        FileIdentity(path: path) == FileIdentity(descriptor: descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Notes that the database was closed in order, and lets the next owner in.
    func release() {
        write("")
        flock(descriptor, LOCK_UN)
    }

    /// On a full disk the note stays empty; the only consequence is a check that is not made next time.
    private func write(_ text: String) {
        ftruncate(descriptor, 0)
        _ = unsafe pwrite(descriptor, text, text.utf8.count, 0)
    }

    private static func read(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
