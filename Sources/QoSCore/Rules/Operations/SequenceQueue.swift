import HeapModule

/// Operations in the order of adding to their queue. Any of them may be dropped.
///
/// Nearly all entries arrive in order and go to the end of an array. A late entry goes to a heap: its operation was
/// raised, or got ready after others. A dropped entry is skipped. The owner knows the valid entries and counts them.
/// The rest is swept out when it outweighs them.
///
/// - Complexity: amortised O(1) in order, O(log n) late.
struct SequenceQueue: Sendable {
    /// An operation and its number in the order of adding. A number is never reused.
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

    /// The number of valid entries.
    private(set) var live = 0

    /// Adds a valid entry.
    mutating func enter(_ entry: Entry) {
        live += 1
        if let last = inOrder.last, last.sequence >= entry.sequence, head < inOrder.count {
            late.insert(entry)
        } else {
            inOrder.append(entry)
        }
    }

    /// Notes that one entry is no longer valid, whether it is still here or was taken.
    ///
    /// - Parameter isMeant: whether an entry is valid.
    mutating func left(_ isMeant: (Entry) -> Bool) {
        live -= 1
        let held = inOrder.count - head + late.count
        if held > 2 * live + Self.sweepsFrom { sweep(isMeant) }
    }

    /// The first entry, valid or not.
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

    /// Returns all valid entries, in order; for tests and reports, not for the hot path.
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
