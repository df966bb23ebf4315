/// The written range of a file whose write-back has been started and not been waited for.
///
/// A pure value.
struct WriteBehind: Sendable, Hashable {
    /// The most bytes that wait, before a write waits for all of them.
    static let most: Int64 = 4 << 20

    private var pending: Range<Int64>?
    private var bytes: Int64 = 0

    /// Notes a written range.
    ///
    /// - Returns: the range to wait for; `nil` while little is pending.
    mutating func wrote(_ range: Range<Int64>, waitsForAll: Bool) -> Range<Int64>? {
        let whole = pending.map {
            min($0.lowerBound, range.lowerBound)..<max($0.upperBound, range.upperBound)
        }
        pending = whole ?? range
        bytes += range.upperBound - range.lowerBound
        return waitsForAll || bytes >= Self.most ? synchronized() : nil
    }

    /// Notes that everything is on the disk. Returns the range that was pending.
    mutating func synchronized() -> Range<Int64>? {
        defer { (pending, bytes) = (nil, 0) }
        return pending
    }
}
