internal import Glibc

/// A folder that is being listed. It owns the directory stream and its descriptor.
///
/// One thread at a time. Safe: the stream is made here, closed once, and never handed out.
@safe final class OpenFolder {
    /// The result of `next`.
    enum Entry {
        case entry(name: [UInt8], status: stat)
        case failure(name: [UInt8], operation: String, code: Int32)
        case end
    }

    let path: RelativePath
    let identity: FolderIdentity
    private let stream: OpaquePointer

    var descriptor: Int32 { unsafe dirfd(stream) }

    /// Takes over `descriptor` and closes it in every case.
    init(owning descriptor: Int32, path: RelativePath) throws(FileSystemFailure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw FileSystemFailure(path: path, operation: "stat", code: code)
        }
        guard let stream = unsafe fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw FileSystemFailure(path: path, operation: "list", code: code)
        }
        self.path = path
        self.identity = FolderIdentity(status)
        unsafe self.stream = stream
    }

    deinit {
        unsafe closedir(stream)
    }

    /// Opens the folder `name` in this one, without following a link.
    func open(_ name: [UInt8]) throws(FileSystemFailure) -> OpenFolder {
        let path = path.appending(name)
        let child = openEntry(name, in: descriptor, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard child >= 0 else { throw FileSystemFailure(path: path, operation: "open", code: errno) }
        return try OpenFolder(owning: child, path: path)
    }

    /// Reads a regular file of this folder, without following a link or waiting for a pipe.
    func read(_ name: [UInt8], limit: Int) throws(FileSystemFailure) -> [UInt8] {
        let path = path.appending(name)
        let file = openEntry(name, in: descriptor, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw FileSystemFailure(path: path, operation: "open", code: errno) }
        return try OpenFile(owning: file, path: path).read(limit: limit)
    }

    /// Looks at the entry `name`, fstatat(2), and follows no link.
    func status(of name: [UInt8]) throws(FileSystemFailure) -> stat {
        var status = stat()
        let terminated = name.map { CChar(bitPattern: $0) } + [0]
        guard unsafe fstatat(descriptor, terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw FileSystemFailure(path: path.appending(name), operation: "stat", code: errno)
        }
        return status
    }

    /// Returns the next entry and its status, without `.` and `..`; readdir(3), fstatat(2).
    func next() -> Entry {
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                return errno == 0 ? .end : .failure(name: [], operation: "list", code: errno)
            }
            // The name is read through a raw pointer: the record may be shorter than the declared structure.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return .end }
            let name = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let length = unsafe strlen(name)
            let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: name, count: length))
            if bytes == [UInt8(ascii: ".")] || bytes == [UInt8(ascii: "."), UInt8(ascii: ".")] { continue }
            var status = stat()
            guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                return .failure(name: bytes, operation: "stat", code: errno)
            }
            return .entry(name: bytes, status: status)
        }
    }
}

/// Opens an entry by the bytes of its name, openat(2). The result is negative on failure, and errno is set.
func openEntry(_ name: some Collection<UInt8>, in folder: Int32, flags: Int32) -> Int32 {
    var terminated = name.map { CChar(bitPattern: $0) }
    terminated.append(0)
    var descriptor: Int32
    repeat {
        descriptor = unsafe openat(folder, terminated, flags)
    } while descriptor < 0 && errno == EINTR
    return descriptor
}
