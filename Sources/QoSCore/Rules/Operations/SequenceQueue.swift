import HeapModule

/// Operations in the order in which they were added to their queue, from which any may be dropped.
///
/// What comes in order, which is nearly everything, goes to the end of an array; what comes late, because it was raised or
/// its dependencies were met after others', goes to a heap. Entries are dropped by being passed over: the owner knows
/// which are still meant, says how many of those there are, and the rest is swept out when it outweighs them.
///
/// Complexity: amortised O(1) in order, O(log n) late.
struct SequenceQueue: Sendable {
    /// An operation and its number in the order of adding, which is never used twice.
    struct Entry: Sendable, Comparable {
        let sequence: UInt64
        let operation: UInt32

        static func < (left: Entry, right: Entry) -> Bool {
            left.sequence < right.sequence
        }
    }

    private static let sweepsFrom = 64

    private var inOrder: [Entry] = []
    private var head = 0
    private var late = Heap<Entry>()

    /// How many entries are meant, of those that are here.
    private(set) var live = 0

    /// Adds an entry that is meant.
    mutating func enter(_ entry: Entry) {
        live += 1
        if let last = inOrder.last, last.sequence >= entry.sequence, head < inOrder.count {
            late.insert(entry)
        } else {
            inOrder.append(entry)
        }
    }

    /// One entry is not meant any more, whether it is still here or was taken.
    ///
    /// - Parameter isMeant: tells the entries that are.
    mutating func left(_ isMeant: (Entry) -> Bool) {
        live -= 1
        let held = inOrder.count - head + late.count
        if held > 2 * live + Self.sweepsFrom { sweep(isMeant) }
    }

    /// The first entry, meant or not.
    var first: Entry? {
        let sorted = head < inOrder.count ? inOrder[head] : nil
        guard let other = late.min else { return sorted }
        guard let sorted else { return other }
        return min(sorted, other)
    }

    /// Takes the first entry.
    mutating func removeFirst() {
        if head < inOrder.count, late.min.map({ inOrder[head] < $0 }) ?? true {
            head += 1
            if head == inOrder.count {
                inOrder.removeAll(keepingCapacity: head <= Self.sweepsFrom)
                head = 0
            } else if head > Self.sweepsFrom, head > inOrder.count / 2 {
                inOrder.removeFirst(head)
                head = 0
            }
        } else {
            _ = late.popMin()
        }
    }

    /// All entries that are meant, in order; for looking at, not for the hot path.
    func meant(_ isMeant: (Entry) -> Bool) -> [Entry] {
        var all = inOrder[head...].filter(isMeant)
        all.append(contentsOf: late.unordered.filter(isMeant))
        all.sort()
        var last: UInt64?
        all.removeAll { entry in
            defer { last = entry.sequence }
            return entry.sequence == last
        }
        return all
    }

    private mutating func sweep(_ isMeant: (Entry) -> Bool) {
        inOrder = meant(isMeant)
        head = 0
        late = Heap()
    }
}
