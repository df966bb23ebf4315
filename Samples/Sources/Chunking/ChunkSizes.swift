/// The sizes of chunks, in bytes.
public struct ChunkSizes: Sendable, Hashable {
    /// The smallest chunk, except for the last one of a stream.
    public let minimum: Int

    /// The size that most chunks are close to. A power of two.
    public let normal: Int

    /// The largest chunk.
    public let maximum: Int

    /// 256 KiB, 1 MiB, 4 MiB.
    public static let standard = ChunkSizes(minimum: 256 << 10, normal: 1 << 20, maximum: 4 << 20)

    /// The bits that must be zero for a cut before the normal size.
    let strictMask: UInt64

    /// The bits that must be zero for a cut from the normal size on.
    let easyMask: UInt64

    /// Makes sizes.
    ///
    /// - Precondition: 0 < minimum ≤ normal ≤ maximum, and `normal` is a power of two from 64 to 2^40.
    public init(minimum: Int, normal: Int, maximum: Int) {
        precondition(0 < minimum && minimum <= normal && normal <= maximum, "sizes in the wrong order")
        precondition(normal.nonzeroBitCount == 1 && normal >= 64 && normal <= 1 << 40, "not a power of two")
        self.minimum = minimum
        self.normal = normal
        self.maximum = maximum
        let bits = normal.trailingZeroBitCount
        strictMask = Self.mask(bits: bits + 2)
        easyMask = Self.mask(bits: bits - 2)
    }

    /// The bits below the highest one. That one stays free, so that a mask can be shifted left by one.
    private static func mask(bits: Int) -> UInt64 {
        ((1 << UInt64(bits)) - 1) << UInt64(63 - bits)
    }
}
