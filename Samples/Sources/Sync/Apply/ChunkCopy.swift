internal import CFileSystem
internal import Chunking
internal import Crypto
internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import TreeScan

/// Writes a new version of a large file by lists of chunks: what the old version has comes from there.
///
/// copy_file_range(2) shares the blocks on file systems that can. The chunks are cut by their content, so bytes that
/// were inserted or removed move the others without a new copy of them.
struct ChunkCopy: Sendable {
    private static let piece = 1 << 20
    private static let chunker = Chunker(
        sizes: ChunkSizes(minimum: 64 << 10, normal: 256 << 10, maximum: 1 << 20),
        gear: .shared)

    private struct Place: Sendable {
        var offset: Int64
        var length: Int
    }

    let source: OpenDescriptor
    let former: OpenDescriptor
    let target: OpenDescriptor
    let path: RelativePath

    /// Writes the file.
    ///
    /// - Returns: The number of bytes that came from the old version.
    func run(from start: Int64, size: Int64, progress: (Int64) throws -> Void) async throws -> Int64 {
        let before = EntryStatus(descriptor: former.number)
        var known: [SHA256.Digest: Place] = [:]
        try await cut(former, from: 0) { chunk, offset in
            known[SHA256.hash(data: chunk)] = Place(offset: offset, length: chunk.count)
        }
        var reused: Int64 = 0
        let (former, target) = (former, target)
        try await cut(source, from: start) { chunk, offset in
            var isReused = false
            let isHole = chunk.allSatisfy { $0 == 0 }
            if !isHole, let place = known[SHA256.hash(data: chunk)], place.length == chunk.count {
                isReused = try await IOThrottle.process.perform(bytes: chunk.count) { _ in
                    Self.reuse(former.number, place, target.number, at: offset)
                }
            }
            if isHole {
                // A hole of the source, most likely: it occupies no room here, either.
                guard ftruncate(target.number, off_t(offset + Int64(chunk.count))) == 0 else {
                    throw FileSystemFailure(path: path, operation: "write", code: errno)
                }
            } else if isReused {
                reused += Int64(chunk.count)
            } else {
                let code = try await IOThrottle.process.perform(bytes: chunk.count) { _ in
                    FileBytes.write(chunk[...], to: target.number, at: offset)
                }
                guard code == 0 else { throw FileSystemFailure(path: path, operation: "write", code: code) }
            }
            try progress(offset + Int64(chunk.count))
        }
        // Chunks that changed after they were hashed must not get into the new version.
        guard let before, EntryStatus(descriptor: self.former.number)?.stamp == before.stamp else {
            throw FileSystemFailure(path: path, operation: "read", code: ESTALE)
        }
        return reused
    }

    /// Copies a chunk of the old version. If that fails, the chunk is written from the source.
    private static func reuse(_ former: Int32, _ place: Place, _ target: Int32, at offset: Int64) -> Bool {
        var (from, to, rest) = (off_t(place.offset), off_t(offset), place.length)
        while rest > 0 {
            let count = unsafe copy_file_range(former, &from, target, &to, rest, 0)
            guard count > 0 else { return false }
            rest -= count
        }
        return true
    }

    private func cut(
        _ file: OpenDescriptor, from start: Int64, _ body: ([UInt8], Int64) async throws -> Void
    ) async throws {
        var stream = ChunkStream(Self.chunker)
        var (position, offset) = (start, start)
        while true {
            try Task.checkCancellation()
            let place = Int(position)
            let (bytes, code) = try await IOThrottle.process.perform(bytes: Self.piece) { granted in
                FileBytes.read(file.number, from: place, count: max(1, min(Self.piece, granted)))
            }
            guard code == 0 else { throw FileSystemFailure(path: path, operation: "read", code: code) }
            if bytes.isEmpty { stream.finish() } else { stream.append(bytes) }
            position += Int64(bytes.count)
            while let chunk = stream.next() {
                try await body(chunk, offset)
                offset += Int64(chunk.count)
            }
            if bytes.isEmpty { return }
        }
    }
}
