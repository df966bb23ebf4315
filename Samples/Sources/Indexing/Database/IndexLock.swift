internal import Glibc
internal import TreeScan

/// Proves that this process alone uses an index folder, by an exclusive flock(2) on `index.lock` in the folder.
///
/// The kernel drops the lock at any end of the process. The file holds the owner's process id while the index is open,
/// and an orderly close empties the file. So a non-empty file means that its owner was killed.
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

    /// Returns the process that has the index open; nil if there is none.
    static func owner(directory: String) -> Int32? {
        let descriptor = unsafe Glibc.open(directory + "/index.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let process = Int32(read(descriptor)), process > 0 else { return nil }
        return kill(process, 0) == 0 || errno == EPERM ? process : nil
    }

    /// Whether the path still names the locked file.
    var isInPlace: Bool {
        FileIdentity(path: path) == FileIdentity(descriptor: descriptor)
    }

    deinit {
        // A child process that has not run its program yet has the open file, too. So closing it does not unlock it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Notes the orderly close of the database, and lets the next owner in.
    func release() {
        write("")
        flock(descriptor, LOCK_UN)
    }

    /// Lets the next owner in after the database could not be opened. Whether it was left behind stays as it was.
    func giveUp() {
        if !wasLeftBehind { write("") }
        flock(descriptor, LOCK_UN)
    }

    /// Writes the note. On a full disk it stays empty; the only consequence is a missing check at the next start.
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
