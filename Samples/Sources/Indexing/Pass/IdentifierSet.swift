/// A set of row numbers as a bitmap: one bit per number up to the largest.
struct IdentifierSet {
    private var words: [UInt64] = []

    /// Adds a number of 0 or more. Amortised O(1).
    mutating func insert(_ id: Int64) {
        let word = Int(id >> 6)
        if word >= words.count {
            words.append(contentsOf: repeatElement(0, count: word + 1 - words.count))
        }
        words[word] |= 1 << UInt64(id & 63)
    }

    /// Whether the number is in the set. O(1).
    func contains(_ id: Int64) -> Bool {
        let word = Int(id >> 6)
        return word < words.count && words[word] & 1 << UInt64(id & 63) != 0
    }
}
