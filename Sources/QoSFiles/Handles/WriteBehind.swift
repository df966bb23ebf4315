/// The written range of a file whose write-back has been started and not been waited for, and the bytes that the disk may
/// still have in its own memory.
///
/// A pure value.
struct WriteBehind: Sendable, Hashable {
    /// What a write has to do at its end.
    enum Step: Sendable, Hashable {
        /// Start the write-back of its own range.
        case start
        /// Write a range back, and wait.
        case wait(for: Range<Int64>)
        /// Let the disk empty its memory, too. A range is on the disk then.
        case flush(Range<Int64>)
    }

    /// The most bytes that wait, before a write waits for all of them.
    static let most: Int64 = 4 << 20

    /// The most bytes that the disk keeps in its memory while the foreground uses it, for a file that will be synchronized.
    ///
    /// A flush takes as long as the disk needs for what it has in its memory, and all other requests wait behind it. So
    /// many small ones hurt the foreground less than a large one at the end. A file that is never synchronized needs no
    /// flush, so it gets none.
    static let mostUnflushed: Int64 = 512 << 10

    /// Whether the file will be synchronized, as far as is known.
    var isSynchronized = false

    private var pending: Range<Int64>?
    private var bytes: Int64 = 0
    private var unflushed: Int64 = 0

    /// Notes a written range.
    ///
    /// - Parameters:
    ///   - isAlone: whether the piece is restrained: it waits for all that is pending.
    ///   - isNear: whether the foreground used the disk some seconds ago.
    mutating func wrote(_ range: Range<Int64>, isAlone: Bool, isNear: Bool) -> Step {
        let count = range.upperBound - range.lowerBound
        let whole = pending.map {
            min($0.lowerBound, range.lowerBound)..<max($0.upperBound, range.upperBound)
        }
        pending = whole ?? range
        bytes += count
        unflushed += count
        guard isAlone || bytes >= Self.most else { return .start }
        let due = whole ?? range
        guard isAlone || isNear, isSynchronized, unflushed >= Self.mostUnflushed else {
            (pending, bytes) = (nil, 0)
            return .wait(for: due)
        }
        _ = synchronized()
        return .flush(due)
    }

    /// Notes that everything is on the disk. Returns the range that was pending.
    mutating func synchronized() -> Range<Int64>? {
        isSynchronized = true
        defer { (pending, bytes, unflushed) = (nil, 0, 0) }
        return pending
    }
}
