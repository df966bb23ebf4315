/// The numbers of files by state. Also used as a difference, then with negative numbers.
public struct IndexCounts: Sendable, Hashable, Codable {
    /// Files that the scans saw and that still exist.
    public private(set) var files = 0
    /// Known files that are not read yet.
    public private(set) var pending = 0
    /// Files whose text is in the index.
    public private(set) var indexed = 0
    /// Files that are left out on purpose.
    public private(set) var skipped = 0
    /// Files that could not be read.
    public private(set) var failed = 0
    /// Indexed files of which only the first part was read.
    public private(set) var truncated = 0
    /// Skipped and failed files by reason, the raw values of `FileReason`.
    public private(set) var reasons: [String: Int] = [:]

    /// Existing files that could not be read.
    public var unread: Int {
        [FileReason.denied, .unreadable, .undecodable, .conversionFailed, .converterMissing].reduce(0) {
            $0 + reasons[$1.rawValue, default: 0]
        }
    }

    /// All zero.
    public init() {}

    /// One file.
    init(state: FileState, reason: FileReason?, isTruncated: Bool) {
        files = 1
        switch state {
        case .pending: pending = 1
        case .indexed: indexed = 1
        case .skipped: skipped = 1
        case .failed: failed = 1
        }
        truncated = isTruncated ? 1 : 0
        if let reason { reasons[reason.rawValue] = 1 }
    }

    /// Adds another count, several times, or subtracts it with a negative number.
    mutating func add(_ other: IndexCounts, times: Int = 1) {
        files += other.files * times
        pending += other.pending * times
        indexed += other.indexed * times
        skipped += other.skipped * times
        failed += other.failed * times
        truncated += other.truncated * times
        for (reason, count) in other.reasons {
            let sum = reasons[reason, default: 0] + count * times
            reasons[reason] = sum == 0 ? nil : sum
        }
    }
}
