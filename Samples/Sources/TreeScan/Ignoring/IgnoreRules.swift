/// The patterns of one ignore file.
struct IgnoreRules: Sendable {
    /// The maximum number of bytes that are read of a file.
    static let sizeLimit = 1 << 20
    /// The maximum number of patterns of a file.
    static let countLimit = 10_000

    private(set) var patterns: [IgnorePattern] = []

    /// Reads the lines of a file. Passes each line that is no pattern, with its number, to `report`, and leaves it out.
    ///
    /// - Complexity: O(n).
    init(_ bytes: [UInt8], report: (_ line: Int, _ reason: String) -> Void = { _, _ in }) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let lines = bytes[start...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            do throws(IgnorePattern.Malformed) {
                guard let pattern = try IgnorePattern(line: line) else { continue }
                guard patterns.count < Self.countLimit else {
                    report(index + 1, "the file has more than \(Self.countLimit) patterns; the rest is left out")
                    return
                }
                patterns.append(pattern)
            } catch {
                report(index + 1, error.reason)
            }
        }
    }

    /// Whether the last pattern that matches leaves the entry out; nil if none matches.
    ///
    /// - Complexity: O(patterns).
    func isIgnored(_ names: ArraySlice<NameCharacters>, isFolder: Bool) -> Bool? {
        for pattern in patterns.reversed() where pattern.matches(names, isFolder: isFolder) {
            return !pattern.isNegated
        }
        return nil
    }
}
