internal import Glibc
internal import SafeFiles

/// A regular file that is open for reading. It is closed at the end of its life.
public struct OpenFile: ~Copyable {
    /// The path below the root.
    public let path: RelativePath

    /// The descriptor, for as long as this value lives.
    public let descriptor: Int32

    /// Takes over `descriptor` and closes it in every case.
    init(owning descriptor: Int32, path: RelativePath) throws(FileSystemFailure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw FileSystemFailure(path: path, operation: "stat", code: code)
        }
        guard FileKind(mode: status.st_mode) == .regular else {
            close(descriptor)
            throw FileSystemFailure(path: path, operation: "read", code: ENODEV)
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Returns the stamp of the open file at this moment, fstat(2).
    public func stamp() throws(FileSystemFailure) -> FileStamp {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw FileSystemFailure(path: path, operation: "stat", code: errno)
        }
        return FileStamp(status)
    }

    /// Reads from the current position until `limit` bytes or the end of the file, whichever comes first; read(2).
    ///
    /// A file that grows meanwhile yields no more than `limit` bytes. Memory: `limit` bytes at most.
    public func read(limit: Int) throws(FileSystemFailure) -> [UInt8] {
        let expected = min(limit, max(0, Int(try stamp().size)).addingClamped(1))
        var failure: Int32 = 0
        var bytes = unsafe [UInt8](unsafeUninitializedCapacity: expected) { buffer, count in
            failure = unsafe fill(UnsafeMutableRawBufferPointer(buffer), &count)
        }
        // The file grew after the measurement: go on in growing pieces, up to the limit.
        while failure == 0, bytes.count >= expected, bytes.count < limit {
            let more = min(limit - bytes.count, max(64 * 1024, bytes.count))
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: more) { buffer, count in
                failure = unsafe fill(UnsafeMutableRawBufferPointer(buffer), &count)
            }
            bytes += piece
            if piece.count < more { break }
        }
        guard failure == 0 else { throw FileSystemFailure(path: path, operation: "read", code: failure) }
        return bytes
    }

    /// Fills the buffer as far as the file goes. Returns an error number, or 0.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer, _ count: inout Int) -> Int32 {
        while count < buffer.count {
            let got = unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            if got > 0 {
                count += got
            } else if got == 0 {
                return 0
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
