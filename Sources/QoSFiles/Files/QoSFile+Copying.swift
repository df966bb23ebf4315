internal import Glibc
import QoSCore
package import QoSKernel
public import QoSRuntime

extension QoSFile {
    /// Copies the data of a regular file to a new one. The copy appears as a whole, when it is on the disk.
    ///
    /// The kernel copies by itself where it can, except for utility and background, whose pieces stay out of the page
    /// cache. The copy has the permissions of the file that it replaces, else those of the source. Owner, times and
    /// extended attributes are not copied, and holes are filled.
    ///
    /// On a file system that can neither rename to a free name only nor link, a file with the target's path that
    /// another program makes at the end of the call is replaced.
    ///
    /// - Parameters:
    ///   - source: an existing file.
    ///   - target: the path of the copy. Its directory must exist.
    ///   - replacing: whether an existing file may be replaced. If not, it is ``FileError/Code/alreadyExists``.
    ///   - throttle: decides when each piece may begin.
    /// - Returns: the number of bytes.
    /// - Throws: ``FileError``, `CancellationError`. Nothing is left of an unfinished copy.
    @discardableResult
    public static func copy(
        _ source: String, to target: String, replacing: Bool = false, throttle: IOThrottle = .process
    ) async throws -> Int64 {
        try await copy(source, to: target, replacing: replacing, throttle: throttle, calls: LinuxFileCalls())
    }

    package static func copy(
        _ source: String, to target: String, replacing: Bool = false, throttle: IOThrottle, calls: any FileCalls
    ) async throws -> Int64 {
        try FileError.check(path: target, for: "rename")
        if !replacing {
            try await throttle.perform(bytes: 0) { _ throws -> Void in
                guard calls.status(of: target).result != 0 else { throw FileError("rename", EEXIST, path: target) }
            }
        }
        let old = try await open(source, .reading, throttle: throttle, calls: calls)
        do {
            let count = try await install(
                target, replacing: replacing, permissions: old.permissions, throttle: throttle, calls: calls
            ) { new in
                try await old.copyAll(to: new)
            }
            try await old.close()
            return count
        } catch {
            try? await old.close()
            throw error
        }
    }

    private func copyAll(to new: QoSFile) async throws -> Int64 {
        try await adviseSequential()
        var offset: Int64 = 0
        var copiesInKernel = true
        while true {
            if copiesInKernel {
                let count = try await copyInKernel(to: new, at: offset)
                if let count, count > 0 {
                    offset += Int64(count)
                    continue
                }
                // 0 is the end, or a file system whose files have no size: reading tells.
                copiesInKernel = false
            }
            let bytes = try await read(IOGate.largestPiece, at: offset)
            if bytes.isEmpty { return offset }
            try await new.write(bytes, at: offset, countedFrom: 0)
            offset += Int64(bytes.count)
        }
    }

    /// Copies a piece inside of the kernel; `nil` where that is not possible, or not for the class.
    private func copyInKernel(to new: QoSFile, at offset: Int64) async throws -> Int? {
        let refusals = [EXDEV, EOPNOTSUPP, EINVAL, ENOSYS, EPERM, EBADF, ETXTBSY, EAGAIN]
        return try await throttle.performPiece(bytes: IOGate.largestPiece) {
            [from = file, to = new.file] (piece: IOGate.Piece) throws -> Int? in
            guard !PageCachePolicy.apply(to: piece.qosClass) else { return nil }
            return try from.use(for: "copy_file_range") { source in
                try to.use(for: "copy_file_range") { target in
                    var count: Int
                    repeat {
                        count = from.calls.copy(from: source, at: offset, to: target, at: offset, count: piece.bytes)
                    } while count == -Int(EINTR)
                    if count >= 0 { return count }
                    if refusals.contains(Int32(clamping: -count)) { return nil }
                    var error = FileError("copy_file_range", Int32(clamping: count), path: to.path)
                    error.bytesWritten = offset
                    throw error
                }
            }
        }
    }
}
