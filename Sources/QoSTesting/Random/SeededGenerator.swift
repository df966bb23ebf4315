/// A random generator that gives the same numbers for the same seed, on every machine.
///
/// The algorithm is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
///
/// ```swift
/// var random = SeededGenerator(seed: 7)
/// let length = Int.random(in: 1...100, using: &random)
/// ```
///
/// Print the seed with each failure, so that you can repeat it.
///
/// - Complexity: O(1) a number; nothing allocates.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes the generator of a seed; neighbouring seeds give unrelated numbers.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next number, uniform over all 64-bit values.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
