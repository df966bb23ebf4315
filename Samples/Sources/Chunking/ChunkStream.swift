/// Cuts a stream that arrives in pieces of any size. The pieces do not change the chunks.
///
/// Memory: the largest chunk and the largest piece.
public struct ChunkStream: Sendable {
    private let chunker: Chunker
    private var buffer: [UInt8] = []
    private var start = 0
    private var isFinished = false

    /// Makes an empty stream.
    public init(_ chunker: Chunker) {
        self.chunker = chunker
    }

    /// Adds bytes at the end.
    public mutating func append(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        if buffer.isEmpty {
            buffer = bytes
        } else {
            // At once, as an array that grows doubles its room.
            if buffer.count + bytes.count > buffer.capacity {
                buffer.reserveCapacity(max(buffer.count, chunker.sizes.maximum) + bytes.count)
            }
            buffer += bytes
        }
    }

    /// Says that no bytes follow. The rest then comes out of `next()`.
    public mutating func finish() {
        isFinished = true
    }

    /// Whether `next()` returns a chunk.
    public var hasNext: Bool {
        let count = buffer.count - start
        return count >= chunker.sizes.maximum || (isFinished && count > 0)
    }

    /// Returns the next chunk, or nil if it depends on bytes that are not there yet, or the stream is over.
    public mutating func next() -> [UInt8]? {
        guard hasNext else { return nil }
        let length = chunker.firstChunk(of: buffer.span.extracting(start..<buffer.count))
        if start == 0, length == buffer.count {
            defer { buffer = [] }
            return buffer
        }
        let chunk = Array(buffer[start..<(start + length)])
        start += length
        if start == buffer.count {
            buffer = []
            start = 0
        }
        return chunk
    }
}
