/// FastCDC (Xia et al., 2020): finds the ends of chunks by the content, so an insertion changes only chunks near it.
///
/// Two bytes are hashed in each round. Before the normal size a cut needs two more zero bits, after it two less
/// (normalised chunking), which keeps the sizes close to the normal one. A value: it reads and stores nothing.
public struct Chunker: Sendable {
    /// The sizes.
    public let sizes: ChunkSizes

    private let gear: GearTable

    /// Makes a chunker.
    public init(sizes: ChunkSizes = .standard, gear: GearTable) {
        self.sizes = sizes
        self.gear = gear
    }

    /// Returns the length of the first chunk of `bytes`.
    ///
    /// The result depends on the first `sizes.maximum` bytes only. If fewer are given, the stream must end with them.
    ///
    /// - Complexity: O(the length of the chunk).
    public func firstChunk(of bytes: Span<UInt8>) -> Int {
        let end = min(bytes.count, sizes.maximum)
        guard end > sizes.minimum else { return end }
        var hash: UInt64 = 0
        let middle = min(sizes.normal, end)
        var position = sizes.minimum
        if let cut = cut(bytes, &position, to: middle, sizes.strictMask, &hash) { return cut }
        return cut(bytes, &position, to: end, sizes.easyMask, &hash) ?? end
    }

    private func cut(
        _ bytes: Span<UInt8>, _ position: inout Int, to end: Int, _ mask: UInt64, _ hash: inout UInt64
    ) -> Int? {
        let words = gear.words.span
        let shifted = gear.shifted.span
        let shiftedMask = mask << 1
        while position + 1 < end {
            hash = (hash << 2) &+ shifted[Int(bytes[position])]
            if hash & shiftedMask == 0 { return position + 1 }
            hash = hash &+ words[Int(bytes[position + 1])]
            if hash & mask == 0 { return position + 2 }
            position += 2
        }
        if position < end {
            hash = (hash << 1) &+ words[Int(bytes[position])]
            position += 1
            if hash & mask == 0 { return position }
        }
        return nil
    }
}
