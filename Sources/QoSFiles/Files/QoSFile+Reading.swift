internal import Glibc
import QoSCore
import QoSKernel
import QoSRuntime

extension QoSFile {
    /// Reads bytes at an offset.
    ///
    /// - Parameters:
    ///   - count: the number of bytes; not negative.
    ///   - offset: not negative.
    /// - Returns: fewer bytes only where the file ends; none beyond its end.
    public func read(_ count: Int, at offset: Int64 = 0) async throws -> [UInt8] {
        try check("read", count: count, offset)
        let result = ReadBytes(count)
        var done = 0
        var attempts = Attempts("read", path)
        while done < count {
            let start = offset + Int64(done)
            let part = try await throttle.performPiece(bytes: count - done) {
                [file, manners] (piece: IOGate.Piece) throws -> Int in
                try file.use(for: "read") { descriptor in
                    unsafe result.append(piece.bytes) {
                        unsafe manners.read(descriptor, into: $0, at: start, for: piece)
                    }
                }
            }
            if part == -Int(EAGAIN) {
                try await attempts.failed()
                continue
            }
            guard part >= 0 else { throw FileError("read", Int32(clamping: part), path: path) }
            if part == 0 { break }
            done += part
            attempts.succeeded()
        }
        return result.taken()
    }

    /// Reads bytes at an offset into memory of the caller.
    ///
    /// - Parameters:
    ///   - buffer: valid, and used by nothing else, until the call returns.
    ///   - offset: not negative.
    /// - Returns: the number of bytes; fewer than the buffer has only where the file ends.
    @unsafe
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) async throws -> Int {
        try check("read", count: buffer.count, offset)
        var done = 0
        var attempts = Attempts("read", path)
        while done < buffer.count {
            let start = offset + Int64(done)
            // SAFETY: the caller keeps the memory until the call returns, and nothing else uses it.
            nonisolated(unsafe) let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try await unsafe throttle.performPiece(bytes: rest.count) {
                [file, manners] (piece: IOGate.Piece) throws -> Int in
                try file.use(for: "read") { descriptor in
                    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: rest.prefix(piece.bytes))
                    return unsafe manners.read(descriptor, into: part, at: start, for: piece)
                }
            }
            if count == -Int(EAGAIN) {
                try await attempts.failed()
                continue
            }
            guard count >= 0 else { throw FileError("read", Int32(clamping: count), path: path) }
            if count == 0 { break }
            done += count
            attempts.succeeded()
        }
        return done
    }

    /// Returns the bytes of the file from an offset to its end, in chunks.
    ///
    /// - Parameters:
    ///   - count: the size of a chunk in bytes; positive. The last chunk may be smaller.
    ///   - offset: the beginning; not negative.
    public func chunks(of count: Int = 1 << 20, from offset: Int64 = 0) -> FileChunks {
        FileChunks(file: self, count: count, offset: offset)
    }

    /// Tells the kernel that the file is read from its beginning to its end.
    func adviseSequential() async throws {
        try await throttle.perform(bytes: 0) { [file, manners] _ throws -> Void in
            try file.use(for: "posix_fadvise") { manners.readsSequentially($0) }
        }
    }

    func check(_ call: String, count: Int, _ offset: Int64) throws(FileError) {
        guard count >= 0, offset >= 0, !offset.addingReportingOverflow(Int64(count)).overflow else {
            throw FileError(
                call, EINVAL, path: path, detail: "\(count) bytes at offset \(offset) are no part of a file")
        }
    }
}

/// The attempts of a call whose file system is not ready.
struct Attempts {
    private static let most = 100
    private var count = 0
    private let call: String
    private let path: String

    init(_ call: String, _ path: String) {
        self.call = call
        self.path = path
    }

    /// Waits a millisecond.
    ///
    /// - Throws: ``FileError/Code/unavailable`` after a hundred attempts without progress; `CancellationError`.
    mutating func failed() async throws {
        count += 1
        guard count < Self.most else { throw FileError(call, EAGAIN, path: path) }
        try await Task.sleep(for: .milliseconds(1))
    }

    /// Notes progress: the attempts count anew.
    mutating func succeeded() { count = 0 }
}
