internal import HeapModule
internal import QoSCore

/// The order of items that wait for a host: the highest level first, then the earliest due time.
struct ReadyOrder: Sendable, Hashable, Comparable {
    let level: QoSLevel
    let due: WallTime

    static func < (left: ReadyOrder, right: ReadyOrder) -> Bool {
        left.level == right.level ? left.due < right.due : left.level > right.level
    }
}

/// Items in an order, any of which may be dropped.
///
/// A dropped entry stays in the heap until it reaches the top, or until the dropped ones outweigh the others. An entry
/// is valid as long as its stamp is that of its item. The owner knows the stamps.
///
/// - Complexity: amortised O(log n).
struct StampedHeap: Sendable {
    struct Entry: Comparable, Sendable {
        let order: ReadyOrder
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
}

/// The queues of a ``WorkloadTable``: each item is in one of them, or in none.
struct ItemQueues: Sendable {
    enum Queue: Sendable, Hashable {
        case due
        case lane(Int64, QoSClass)
        case line(key: String, lane: Int64, QoSClass, limit: Int)
    }

    private struct Ticket: Sendable {
        let queue: Queue
        let order: ReadyOrder
        let stamp: UInt64
    }

    private var due = StampedHeap()
    /// By lane, and by the position of the class in the order of classes.
    private var lanes: [[StampedHeap]] = []
    private var lineHeaps: [Queue: StampedHeap] = [:]
    private var tickets: [WorkloadItemID: Ticket] = [:]
    /// The lines of each key that have items.
    private var lines: [String: Set<Queue>] = [:]
    private var lastStamp: UInt64 = 0

    private subscript(queue: Queue) -> StampedHeap {
        _read {
            switch queue {
            case .due: yield due
            case .lane(let lane, let qosClass): yield lanes[Int(lane)][qosClass.rank]
            case .line: yield lineHeaps[queue, default: StampedHeap()]
            }
        }
        _modify {
            switch queue {
            case .due: yield &due
            case .lane(let lane, let qosClass): yield &lanes[Int(lane)][qosClass.rank]
            case .line: yield &lineHeaps[queue, default: StampedHeap()]
            }
        }
    }

    /// Adds a lane, whose number is that of the lanes before.
    mutating func addLane() {
        lanes.append(Array(repeating: StampedHeap(), count: QoSClass.allCases.count))
    }

    /// The lines of a key that have items.
    func lines(ofKey key: String) -> Set<Queue> { lines[key] ?? [] }

    /// The items that wait for their time.
    var dueItems: [WorkloadItemID] { tickets.filter { $0.value.queue == .due }.map(\.key) }

    /// Moves an item to a queue, or to none.
    mutating func put(_ id: WorkloadItemID, in queue: Queue?, order: ReadyOrder) {
        if let ticket = tickets[id] {
            if ticket.queue == queue, ticket.order == order { return }
            remove(id)
        }
        guard let queue else { return }
        lastStamp += 1
        tickets[id] = Ticket(queue: queue, order: order, stamp: lastStamp)
        self[queue].insert(.init(order: order, item: id, stamp: lastStamp))
        if case .line(let key, _, _, _) = queue { lines[key, default: []].insert(queue) }
    }

    /// Takes an item out of its queue. Its entry there is invalid from now on.
    mutating func remove(_ id: WorkloadItemID) {
        guard let ticket = tickets.removeValue(forKey: id) else { return }
        drop(from: ticket.queue)
        guard case .line(let key, _, _, _) = ticket.queue, self[ticket.queue].live == 0 else { return }
        lineHeaps[ticket.queue] = nil
        lines[key]?.remove(ticket.queue)
        if lines[key]?.isEmpty == true { lines[key] = nil }
    }

    // Each of these has a scope of its own: a table that is held while it changes is copied.

    private mutating func drop(from queue: Queue) {
        let tickets = self.tickets
        self[queue].drop { tickets[$0.item]?.stamp == $0.stamp }
    }

    /// Returns the first item of a queue.
    mutating func first(_ queue: Queue) -> (item: WorkloadItemID, order: ReadyOrder)? {
        guard self[queue].live > 0 else { return nil }
        let tickets = self.tickets
        return self[queue].first { tickets[$0.item]?.stamp == $0.stamp }.map { ($0.item, $0.order) }
    }
}
