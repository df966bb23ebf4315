import Synchronization

/// The nodes of a worker's queue that go before or behind the others of their class, by how far: before them Swift tasks with a
/// priority between that of their class and the next, behind them what has a relative priority below 0.
///
/// The highest go first, those of one order as they have arrived. One node in ``fairness`` is left to those without an order while some
/// go before them, and one to those behind while any others wait: so that a task that yields for ever keeps nobody from running.
///
/// A plain value behind the worker's lock. Complexity: O(1) for each node.
struct OrderedNodes {
    /// How many nodes in a row may go before others.
    static let fairness = 16

    /// Whether there has been any in this process: where there has not, nobody looks for them.
    static let areUsed = Atomic<Bool>(false)

    /// By ``JobNode/Tag/order``.
    private var lists: [32 of NodeList] = .init(repeating: NodeList())
    private var occupied: UInt32 = 0
    private var runs = 0
    private var runsBefore = 0
    private(set) var count = 0

    @inline(__always)
    var isEmpty: Bool { occupied == 0 }

    /// The highest of those that go before the others; `nil` when there is none.
    private var highest: Int? {
        let before = occupied & 0xFFFF
        return before == 0 ? nil : 31 - before.leadingZeroBitCount
    }

    /// The highest of those that go behind the others; `nil` when there is none.
    private var highestBehind: Int? {
        let behind = occupied & 0xFFFF_0000
        return behind == 0 ? nil : behind.trailingZeroBitCount
    }

    mutating func append(_ node: JobNode) {
        lists[node.tag.order].append(node)
        occupied |= 1 << UInt32(node.tag.order)
        count += 1
    }

    /// The next node; `nil` when it is the turn of those without an order.
    ///
    /// - Parameter othersWait: whether there are any.
    mutating func pop(othersWait: Bool) -> JobNode? {
        let (before, behind) = (highest, highestBehind)
        if let behind {
            runsBefore += 1
            if runsBefore == Self.fairness || (before == nil && !othersWait) {
                runsBefore = 0
                return popFirst(of: behind)
            }
        }
        guard let before else { return nil }
        if othersWait, runs >= Self.fairness - 1 {
            runs = 0
            return nil
        }
        runs = othersWait ? runs + 1 : 0
        return popFirst(of: before)
    }

    private mutating func popFirst(of list: Int) -> JobNode? {
        let node = lists[list].popFirst()
        count -= 1
        clearIfEmpty(list)
        return node
    }

    mutating func remove(_ node: JobNode) {
        lists[node.tag.order].remove(node)
        count -= 1
        clearIfEmpty(node.tag.order)
    }

    /// The older half of the highest, for a thief; at most `limit`.
    ///
    /// - Parameter behind: whether those that go behind the others are meant, or those that go before them.
    mutating func steal(_ limit: Int, behind: Bool = false) -> NodeList {
        guard let list = behind ? highestBehind : highest else { return NodeList() }
        let taken = lists[list].takeFirst(min((lists[list].count + 1) / 2, limit))
        count -= taken.count
        clearIfEmpty(list)
        return taken
    }

    /// Takes out the nodes for which it holds, of the first `limit` of each order.
    mutating func extract(limit: Int, where isMeant: (JobNode) -> Bool) -> NodeList {
        var taken = NodeList()
        for list in 0..<32 where occupied & (1 << UInt32(list)) != 0 {
            var node = lists[list].head
            for _ in 0..<min(limit, lists[list].count) {
                guard let current = node else { break }
                node = current.next
                guard isMeant(current) else { continue }
                remove(current)
                taken.append(current)
            }
        }
        return taken
    }

    /// All that go before the others, or all that go behind them, the highest first.
    mutating func takeAll(behind: Bool = false) -> NodeList {
        var all = NodeList()
        while let list = behind ? highestBehind : highest {
            all.append(contentsOf: lists[list])
            count -= lists[list].count
            lists[list] = NodeList()
            clearIfEmpty(list)
        }
        return all
    }

    private mutating func clearIfEmpty(_ list: Int) {
        if lists[list].isEmpty { occupied &= ~(1 << UInt32(list)) }
    }
}
