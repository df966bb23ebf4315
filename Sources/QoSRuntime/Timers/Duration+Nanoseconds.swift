extension Duration {
    /// The nanoseconds, rounded up, not below 0 and not above `UInt64.max`.
    var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflows) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        if overflows { return .max }
        return whole.addingSaturating((UInt64(attoseconds) + 999_999_999) / 1_000_000_000)
    }
}

extension UInt64 {
    /// The sum, or the largest value.
    func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
