import Synchronization

/// The queued nodes of one worker: a slot for the task that was just made runnable, and a queue.
///
/// The slot runs first: a task that the last job made runnable is in the cache, and is awaited. Two limits apply.
///
/// - The slot is passed over after ``maximumSlotRuns`` in a row, so two tasks that wake one another starve no other
///   task.
/// - The slot is not used while more than ``maximumOvertaken`` nodes wait. So a task that gathers many results is woken
///   once for many, not for each.
///
/// Threading: a plain value behind the worker's lock. The worker pushes and pops; others of its pool steal.
struct LocalQueue {
    /// The number of jobs in a row that may come from the slot.
    static let maximumSlotRuns = 3

    /// The number of queued nodes that the slot may overtake.
    static let maximumOvertaken = 8

    /// The largest number of nodes that a thief takes. It bounds the time for which the victim's lock is held.
    static let maximumSteal = 64

    private var slot: JobNode?
    private var list = NodeList()
    private var slotRuns = 0

    /// The node at which the next look of ``extract(limit:where:)`` begins; `nil` for the front. Never a node that has
    /// left the list.
    private var cursor: JobNode?

    /// The nodes that go before or behind the others of their class.
    private var ordered = OrderedNodes()

    /// The number of queued nodes.
    var count: Int { list.count + ordered.count + (slot == nil ? 0 : 1) }

    /// The turn that a submitted node claims.
    enum Claim {
        /// Next, unless many nodes wait: the job made it runnable.
        case next
        /// After all others: the task yields.
        case last
        /// At once: the task has yielded, and its turn has come.
        case now
    }

    /// Puts a node into the slot, unless more nodes wait than it may overtake. The previous node of the slot goes to
    /// the end of the queue.
    @inline(__always)
    mutating func pushNext(_ node: JobNode, overtaking limit: Int = maximumOvertaken) {
        if node.tag.hasOrder { return ordered.append(node) }
        if list.count > limit { return list.append(node) }
        if let displaced = slot { list.append(displaced) }
        slot = node
    }

    /// Adds a node behind all others.
    @inline(__always)
    mutating func pushLast(_ node: JobNode) {
        if node.tag.hasOrder { return ordered.append(node) }
        list.append(node)
    }

    /// Adds nodes from the injection queue, in their order.
    mutating func pushLast(contentsOf other: consuming NodeList) {
        guard OrderedNodes.areUsed.load(ordering: .relaxed) else { return list.append(contentsOf: other) }
        while let node = other.popFirst() { pushLast(node) }
    }

    /// Takes the node that the worker runs next.
    @inline(__always)
    mutating func pop() -> JobNode? {
        if !ordered.isEmpty, let node = ordered.pop(othersWait: !list.isEmpty || slot != nil) { return node }
        if let node = slot {
            if slotRuns < Self.maximumSlotRuns || list.isEmpty {
                slotRuns += 1
                slot = nil
                return node
            }
            list.append(node)
            slot = nil
        }
        slotRuns = 0
        let node = list.popFirst()
        if node == cursor { cursor = nil }
        return node
    }

    /// Takes the older half for a thief: the nodes that have waited longest.
    ///
    /// - Parameter includingSlot: whether the slot may be given away when nothing else is queued.
    mutating func steal(includingSlot: Bool) -> NodeList {
        if !ordered.isEmpty {
            let taken = ordered.steal(Self.maximumSteal)
            if !taken.isEmpty { return taken }
        }
        if list.isEmpty {
            if !ordered.isEmpty { return ordered.steal(Self.maximumSteal, behind: true) }
            var taken = NodeList()
            if includingSlot, let node = slot {
                taken.append(node)
                slot = nil
            }
            return taken
        }
        cursor = nil
        return list.takeFirst(min((list.count + 1) / 2, Self.maximumSteal))
    }

    /// Takes out the nodes that belong elsewhere. Looks at a bounded number of nodes, from the end of the last look on.
    ///
    /// - Parameters:
    ///   - limit: the number of nodes to look at.
    ///   - belongsElsewhere: called for each of these nodes.
    mutating func extract(limit: Int, where belongsElsewhere: (JobNode) -> Bool) -> NodeList {
        var taken = ordered.isEmpty ? NodeList() : ordered.extract(limit: limit, where: belongsElsewhere)
        if let node = slot, belongsElsewhere(node) {
            slot = nil
            taken.append(node)
        }
        var node = cursor ?? list.head
        for _ in 0..<limit {
            guard let current = node else { break }
            node = current.next
            if belongsElsewhere(current) {
                list.remove(current)
                taken.append(current)
            }
        }
        cursor = node
        return taken
    }

    /// Takes out a node that is in this queue. O(1).
    mutating func remove(_ node: JobNode) {
        if node.tag.hasOrder {
            ordered.remove(node)
        } else if node == slot {
            slot = nil
        } else {
            if node == cursor { cursor = node.next }
            list.remove(node)
        }
    }

    /// Takes all nodes, in the order in which they would have run; for shutdown.
    mutating func takeAll() -> NodeList {
        var all = ordered.takeAll()
        if let node = slot { all.append(node) }
        all.append(contentsOf: list)
        all.append(contentsOf: ordered.takeAll(behind: true))
        self = LocalQueue()
        return all
    }
}
