internal import Glibc
import QoSCore
import QoSKernel
import QoSRuntime

extension QoSFile {
    /// Writes all bytes at an offset. The file grows as needed.
    ///
    /// - Throws: ``FileError``. ``FileError/bytesWritten`` is the number of bytes that are in the file.
    public func write(_ bytes: [UInt8], at offset: Int64) async throws {
        try check("write", count: bytes.count, offset)
        var done = 0
        var attempts = Attempts("write", path)
        while done < bytes.count {
            let (start, from) = (offset + Int64(done), done)
            let count = try await throttle.performPiece(bytes: bytes.count - done) {
                [file, manners] (piece: IOGate.Piece) throws -> Int in
                try file.use(for: "write") { descriptor in
                    unsafe bytes.withUnsafeBytes { all in
                        let part = unsafe UnsafeRawBufferPointer(rebasing: all[from..<from + piece.bytes])
                        return unsafe manners.write(descriptor, part, at: start, for: piece)
                    }
                }
            }
            if count == -Int(EAGAIN) {
                try await attempts.failed()
                continue
            }
            guard count > 0 else {
                var error = FileError("write", count == 0 ? EIO : Int32(clamping: count), path: path)
                error.bytesWritten = Int64(done)
                throw error
            }
            done += count
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
    public func synchronize(dataOnly: Bool = false) async throws {
        try await perform("fsync") { [manners] calls, descriptor in
            let result = calls.synchronize(descriptor, dataOnly: dataOnly)
            if result == 0 { manners.synchronized(descriptor) }
            return result
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
