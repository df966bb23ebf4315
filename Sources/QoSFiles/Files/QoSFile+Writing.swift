internal import Glibc
import QoSCore
import QoSKernel
import QoSRuntime

extension QoSFile {
    /// Writes all bytes at an offset. The file grows as needed.
    ///
    /// - Throws: ``FileError``. ``FileError/bytesWritten`` is the number of bytes that are in the file. Bytes that were
    ///   lost on their way to the disk do not count.
    public func write(_ bytes: [UInt8], at offset: Int64) async throws {
        try await write(bytes, at: offset, countedFrom: offset)
    }

    /// Does the same.
    ///
    /// - Parameter origin: the offset from which ``FileError/bytesWritten`` counts, at most that of the bytes.
    func write(_ bytes: [UInt8], at offset: Int64, countedFrom origin: Int64) async throws {
        try check("write", count: bytes.count, offset)
        var done = 0
        var lostFrom: Int64?
        var attempts = Attempts("write", path)
        do {
            while done < bytes.count {
                let (start, from) = (offset + Int64(done), done)
                let written = try await throttle.performPiece(bytes: bytes.count - done) {
                    [file, manners] (piece: IOGate.Piece) throws -> PageCachePolicy.Written in
                    try file.use(for: "write") { descriptor in
                        unsafe bytes.withUnsafeBytes { all in
                            let part = unsafe UnsafeRawBufferPointer(rebasing: all[from..<from + piece.bytes])
                            return unsafe manners.write(descriptor, part, at: start, for: piece)
                        }
                    }
                }
                if written.count == -Int(EAGAIN) {
                    try await attempts.failed()
                    continue
                }
                guard written.count > 0 else {
                    lostFrom = written.lostFrom
                    throw FileError("write", written.count == 0 ? EIO : Int32(clamping: written.count), path: path)
                }
                done += written.count
                attempts.succeeded()
            }
        } catch var error as FileError {
            error.bytesWritten = max(0, min(offset + Int64(done), lostFrom ?? .max) - origin)
            throw error
        }
    }

    /// Sets the size. New bytes at the end are zero.
    public func truncate(to size: Int64) async throws {
        try check("ftruncate", count: 0, size)
        try await perform("ftruncate") { calls, descriptor in calls.truncate(descriptor, to: size) }
    }

    /// Waits until everything written to the file is on the disk (fsync(2)).
    ///
    /// - Parameter dataOnly: leaves out times and other attributes that reading the data does not need (fdatasync(2)).
    /// - Throws: ``FileError``. After a ``FileError/Code/deviceFailure`` write the data again: the kernel has dropped it.
    ///   A loss that a write has told is told here once more.
    public func synchronize(dataOnly: Bool = false) async throws {
        try await perform("fsync") { [manners] calls, descriptor in
            let result = calls.synchronize(descriptor, dataOnly: dataOnly)
            return result == 0 ? manners.synchronized(descriptor) : result
        }
    }

    /// Sets the permission bits, whatever the umask. A file system that has none keeps those of the creation.
    func setPermissions(_ permissions: UInt32) async throws {
        try await perform("fchmod") { calls, descriptor in
            let result = calls.setPermissions(descriptor, permissions)
            return [EPERM, EOPNOTSUPP, ENOSYS].contains(-result) ? 0 : result
        }
    }

    private func perform(
        _ call: String, _ body: @Sendable (any FileCalls, Int32) -> Int32
    ) async throws {
        try await throttle.perform(bytes: 0) { [file] _ throws -> Void in
            try file.use(for: call) { descriptor in
                var result: Int32
                repeat { result = body(file.calls, descriptor) } while result == -EINTR
                guard result == 0 else { throw FileError(call, result, path: file.path) }
            }
        }
    }
}
