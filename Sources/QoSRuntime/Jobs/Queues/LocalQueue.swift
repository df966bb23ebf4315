import Synchronization

/// What one worker has queued for itself: a slot for the task that was just made runnable, and a queue.
///
/// The slot runs first, because what the last job made runnable is what is in the cache and what somebody waits for;
/// it is passed over after ``maximumSlotRuns`` in a row, so that two tasks that wake one another starve nobody, and not used
/// while more than ``maximumOvertaken`` wait: a task that gathers the results of many is then woken once for many, not for each.
///
/// Threading: a plain value behind the worker's lock. The worker pushes and pops, others of its pool steal.
struct LocalQueue {
    /// How many jobs in a row may come from the slot.
    static let maximumSlotRuns = 3

    /// How many queued nodes the slot may go before.
    static let maximumOvertaken = 8

    /// How many nodes a thief takes at most, which bounds the time that the victim's lock is held.
    static let maximumSteal = 64

    private var slot: JobNode?
    private var list = NodeList()
    private var slotRuns = 0

    /// Where the next look of ``extract(limit:where:)`` begins; `nil` for the front. Never a node that has left the list.
    private var cursor: JobNode?

    /// Those that go before or behind the others of their class.
    private var ordered = OrderedNodes()

    /// How many nodes are queued.
    var count: Int { list.count + ordered.count + (slot == nil ? 0 : 1) }

    /// When what a job has submitted wants to run.
    enum Claim {
        /// Next, unless many wait: the job made it runnable.
        case next
        /// After all others: it yields.
        case last
        /// At once: it has yielded, and its turn has come.
        case now
    }

    /// The node goes into the slot, unless more wait than it may overtake. What was in the slot goes to the end of the queue.
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

    /// Work from the injection queue, in its order.
    mutating func pushLast(contentsOf other: consuming NodeList) {
        guard OrderedNodes.areUsed.load(ordering: .relaxed) else { return list.append(contentsOf: other) }
        while let node = other.popFirst() { pushLast(node) }
    }

    /// What the worker runs next.
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

    /// The older half, for a thief: what has waited longest.
    ///
    /// - Parameter includingSlot: whether the slot may be given away when there is nothing else.
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

    /// Takes out the nodes that belong elsewhere, looking at a bounded number of them from where the last look ended.
    ///
    /// - Parameters:
    ///   - limit: how many to look at.
    ///   - belongsElsewhere: is asked for each.
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

    /// Everything, in the order in which it would have run; for shutdown.
    mutating func takeAll() -> NodeList {
        var all = ordered.takeAll()
        if let node = slot { all.append(node) }
        all.append(contentsOf: list)
        all.append(contentsOf: ordered.takeAll(behind: true))
        self = LocalQueue()
        return all
    }
}
