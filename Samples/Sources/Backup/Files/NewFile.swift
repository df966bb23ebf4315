internal import CFileSystem
internal import Glibc
internal import SafeFiles
internal import Synchronization

/// A file that is written under a temporary name, and gets its own name when all of it is on the disk.
///
/// At the end of its life it is removed if it has no name of its own by then. One thread at a time.
final class NewFile: Sendable {
    /// The temporary path.
    let temporary: String
    /// The path that errors name.
    private let shown: String
    private let calls: StorageCalls
    private let descriptor: Mutex<Int32?>
    private let isNamed = Mutex(false)

    /// Makes an empty file.
    ///
    /// - Parameters:
    ///   - temporary: A path that nobody else uses, on the file system of the final one.
    ///   - shown: The path that errors of writes name.
    ///   - calls: Asked before each call.
    ///   - owner: The folder whose owner gets a file that root makes.
    init(_ temporary: String, for shown: String, _ calls: StorageCalls, owner: String) throws {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let opened = calls.allow(.create) ? unsafe open(temporary, flags, 0o600) : -1
        guard opened >= 0 else { throw BackupError.system("create", temporary) }
        LocalStorage.giveToOwner(of: owner, opened)
        self.temporary = temporary
        self.shown = shown
        self.calls = calls
        descriptor = Mutex(opened)
    }

    deinit {
        if let open = descriptor.withLock({ $0 }) { close(open) }
        if !isNamed.withLock({ $0 }) { unsafe unlink(temporary) }
    }

    /// Writes bytes.
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws {
        guard let open = descriptor.withLock({ $0 }) else { return }
        let code = calls.allow(.write) ? FileBytes.write(bytes, to: open, at: Int64(offset)) : errno
        guard code == 0 else { throw BackupError.system("write", shown, code: code) }
    }

    /// Lets the disk begin with bytes that were written, so that the wait at the end is short, sync_file_range(2).
    func startSynchronizing(_ count: Int, at offset: Int) {
        let startWriting: UInt32 = 2
        // Only a hint: `synchronize` does what it cannot do.
        if let open = descriptor.withLock({ $0 }) { sync_file_range(open, off_t(offset), off_t(count), startWriting) }
    }

    /// Waits until the bytes are on the disk, and closes the file.
    func synchronize() throws {
        guard let open = descriptor.withLock({ $0 }) else { return }
        guard calls.allow(.synchronize), fsync(open) == 0 else { throw BackupError.system("write", shown) }
        descriptor.withLock { $0 = nil }
        guard close(open) == 0 else { throw BackupError.system("write", shown) }
    }

    /// Gives the file its name. A file that has it is replaced.
    func rename(to path: String) throws {
        guard calls.allow(.rename), unsafe Glibc.rename(temporary, path) == 0 else {
            throw BackupError.system("rename", path)
        }
        isNamed.withLock { $0 = true }
    }
}
