/// Numbers that look random and follow from their input alone, so that a retry's jitter needs no stored state.
enum MixedNumber {
    /// Returns a number in 0..<1 for two inputs. The mixing is the last step of SplitMix64 (Steele, Lea and Flood,
    /// 2014), applied to each input.
    static func unit(_ first: UInt64, _ second: UInt64) -> Double {
        let mixed = mix(mix(first &+ 0x9E37_79B9_7F4A_7C15) ^ second)
        return Double(mixed >> 11) * 0x1p-53
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
