internal import CQoSShims
internal import Glibc

/// The kernel's calls for files.
package struct LinuxFileCalls: FileCalls {
    /// The kernel's own calls.
    package init() {}

    package func open(_ path: String, flags: Int32, permissions: UInt32) -> Int32 {
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, mode_t(permissions))
        return descriptor < 0 ? -errno : descriptor
    }

    package func close(_ descriptor: Int32) -> Int32 {
        Glibc.close(descriptor) < 0 ? -errno : 0
    }

    package func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ manner: FileManner
    ) -> Int {
        unsafe cqos_read_at(descriptor, buffer.baseAddress, buffer.count, offset, manner.flags)
    }

    package func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ manner: FileManner
    ) -> Int {
        unsafe cqos_write_at(descriptor, bytes.baseAddress, bytes.count, offset, manner.flags)
    }

    package func copy(from: Int32, at: Int64, to: Int32, at target: Int64, count: Int) -> Int {
        cqos_copy_range(from, at, to, target, count)
    }

    package func synchronize(_ descriptor: Int32, dataOnly: Bool) -> Int32 {
        (dataOnly ? fdatasync(descriptor) : fsync(descriptor)) < 0 ? -errno : 0
    }

    package func synchronizeFileSystem(_ descriptor: Int32) -> Int32 {
        cqos_synchronize_file_system(descriptor)
    }

    package func writeBack(_ descriptor: Int32, from offset: Int64, count: Int64, waits: Bool) -> Int32 {
        cqos_write_back(descriptor, offset, count, waits ? 1 : 0)
    }

    package func advise(_ descriptor: Int32, from offset: Int64, count: Int64, _ advice: FileAdvice) {
        let value =
            switch advice {
            case .normal: POSIX_FADV_NORMAL
            case .sequential: POSIX_FADV_SEQUENTIAL
            case .random: POSIX_FADV_RANDOM
            case .notNeeded: POSIX_FADV_DONTNEED
            }
        _ = posix_fadvise(descriptor, off_t(offset), off_t(count), value)
    }

    package func status(_ descriptor: Int32) -> (result: Int32, status: FileStatus) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return (-errno, FileStatus()) }
        return (0, FileStatus(status))
    }

    package func status(of path: String) -> (result: Int32, status: FileStatus) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return (-errno, FileStatus()) }
        return (0, FileStatus(status))
    }

    package func truncate(_ descriptor: Int32, to size: Int64) -> Int32 {
        ftruncate(descriptor, off_t(size)) < 0 ? -errno : 0
    }

    package func setPermissions(_ descriptor: Int32, _ permissions: UInt32) -> Int32 {
        fchmod(descriptor, mode_t(permissions)) < 0 ? -errno : 0
    }

    package func rename(_ path: String, to new: String, replacing: Bool) -> Int32 {
        guard replacing else { return unsafe cqos_rename_new(path, new) }
        return unsafe Glibc.rename(path, new) < 0 ? -errno : 0
    }

    package func link(_ path: String, to new: String) -> Int32 {
        unsafe Glibc.link(path, new) < 0 ? -errno : 0
    }

    package func remove(_ path: String) -> Int32 {
        unsafe unlink(path) < 0 ? -errno : 0
    }
}

extension FileManner {
    fileprivate var flags: Int32 {
        switch self {
        case .plain: 0
        case .fromMemory: Int32(CQOS_RWF_NOWAIT)
        case .uncached: Int32(CQOS_RWF_DONTCACHE)
        }
    }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            case S_IFBLK: .blockDevice
            default: .unknown
            }
        self.init(kind: kind, size: Int64(status.st_size), permissions: status.st_mode & 0o7777)
    }
}
