import Synchronization

/// The nodes of a worker's queue that go before or behind the others of their class, by how far: before them Swift tasks with a
/// priority between that of their class and the next, behind them what has a relative priority below 0.
///
/// The highest go first, those of one order in the order of their arrival. One node in ``fairness`` is left to those that go further
/// behind, to each order of these in turn: a task that yields for ever keeps nobody from running.
///
/// A plain value behind the worker's lock. Complexity: O(1) for each node.
struct OrderedNodes {
    /// How many nodes in a row may go before others.
    static let fairness = 16

    /// Whether there has been any in this process: where there has not, nobody looks for them.
    static let areUsed = Atomic<Bool>(false)

    /// By position: 0 goes first. The list at ``plain`` is empty: those without an order are the worker's queue's own.
    private var lists: [23 of NodeList] = .init(repeating: NodeList())

    /// The positions with nodes, as bits.
    private var occupied: UInt32 = 0

    /// How many nodes in a row have gone before others.
    private var turns = 0

    /// The position that had the latest turn left to those further behind, as a bit.
    private var latestBehind: UInt32 = 1
    private(set) var count = 0

    /// The position of the nodes without an order, as a bit, and those before and behind it.
    private static let plain: UInt32 = 1 << 7
    private static let before = plain - 1
    private static let behind = ~(plain | before)

    @inline(__always)
    var isEmpty: Bool { occupied == 0 }

    /// Where a node goes: before those without an order by its precedence, behind them by its lowering.
    private static func position(of node: JobNode) -> Int {
        let order = node.tag.order
        return order < 16 ? 7 - order : order - 9
    }

    mutating func append(_ node: JobNode) {
        let position = Self.position(of: node)
        lists[position].append(node)
        occupied |= 1 << UInt32(position)
        count += 1
    }

    /// The next node; `nil` when it is the turn of those without an order.
    ///
    /// - Parameter othersWait: whether there are any.
    mutating func pop(othersWait: Bool) -> JobNode? {
        let waiting = othersWait ? occupied | Self.plain : occupied
        let highest = Self.first(of: waiting)
        let others = waiting & ~highest
        turns = others == 0 ? 0 : turns + 1
        guard turns == Self.fairness else { return popFirst(at: highest) }
        turns = 0
        let further = others & ~(latestBehind | (latestBehind - 1))
        latestBehind = Self.first(of: further == 0 ? others : further)
        return popFirst(at: latestBehind)
    }

    /// The position that goes first, as a bit.
    private static func first(of positions: UInt32) -> UInt32 { positions & (~positions &+ 1) }

    private mutating func popFirst(at bit: UInt32) -> JobNode? {
        guard bit != Self.plain, bit != 0 else { return nil }
        let position = bit.trailingZeroBitCount
        let node = lists[position].popFirst()
        count -= 1
        clearIfEmpty(position)
        return node
    }

    mutating func remove(_ node: JobNode) {
        let position = Self.position(of: node)
        lists[position].remove(node)
        count -= 1
        clearIfEmpty(position)
    }

    /// The first position with nodes before those without an order, or behind them; `nil` for none.
    private func firstOccupied(behind: Bool) -> Int? {
        let positions = occupied & (behind ? Self.behind : Self.before)
        return positions == 0 ? nil : positions.trailingZeroBitCount
    }

    /// The older half of the highest, for a thief; at most `limit`.
    ///
    /// - Parameter behind: whether those that go behind the others are meant, or those that go before them.
    mutating func steal(_ limit: Int, behind: Bool = false) -> NodeList {
        guard let list = firstOccupied(behind: behind) else { return NodeList() }
        let taken = lists[list].takeFirst(min((lists[list].count + 1) / 2, limit))
        count -= taken.count
        clearIfEmpty(list)
        return taken
    }

    /// Takes out the nodes for which it holds, of the first `limit` of each order.
    mutating func extract(limit: Int, where isMeant: (JobNode) -> Bool) -> NodeList {
        var taken = NodeList()
        for list in 0..<lists.count where occupied & (1 << UInt32(list)) != 0 {
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
        while let list = firstOccupied(behind: behind) {
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
