extension Duration {
    /// The duration in nanoseconds, rounded up and clamped to 0…`UInt64.max`.
    var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflows) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        if overflows { return .max }
        return whole.addingSaturating((UInt64(attoseconds) + 999_999_999) / 1_000_000_000)
    }
}

extension UInt64 {
    /// Returns the sum, or the largest value if the sum overflows.
    func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
