internal import HeapModule

/// Items in an order, any of which may be dropped.
///
/// A dropped entry stays in the heap until it reaches the top, or until the dropped ones outweigh the others. An entry
/// is valid as long as its stamp is that of its item. The owner knows the stamps.
///
/// - Complexity: amortised O(log n).
struct StampedHeap<Order: Comparable & Sendable>: Sendable {
    struct Entry: Comparable, Sendable {
        let order: Order
        let item: WorkloadItemID
        let stamp: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            left.order == right.order ? left.item < right.item : left.order < right.order
        }

        static func == (left: Entry, right: Entry) -> Bool {
            left.order == right.order && left.item == right.item
        }
    }

    private static var sweepsFrom: Int { 64 }

    private var heap = Heap<Entry>()
    /// The number of valid entries.
    private(set) var live = 0

    /// Adds a valid entry.
    mutating func insert(_ entry: Entry) {
        heap.insert(entry)
        live += 1
    }

    /// Notes that an entry is not valid any more, and is still here.
    mutating func drop(_ isValid: (Entry) -> Bool) {
        live -= 1
        if heap.count > 2 * live + Self.sweepsFrom { heap = Heap(heap.unordered.filter(isValid)) }
    }

    /// Returns the first valid entry.
    mutating func first(_ isValid: (Entry) -> Bool) -> Entry? {
        while let entry = heap.min {
            if isValid(entry) { return entry }
            _ = heap.popMin()
        }
        return nil
    }

    /// Takes the first entry, which ``first(_:)`` has returned.
    mutating func removeFirst() {
        _ = heap.popMin()
        live -= 1
    }
}
