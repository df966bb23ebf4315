import Synchronization

/// The nodes of a worker's queue that go before or behind the others of their class, by distance.
///
/// Swift tasks with a priority between that of their class and the next go before the others. Work with a relative
/// priority below 0 goes behind them. The highest go first; nodes of one order run in the order of their arrival. One
/// turn in ``fairness`` goes to a node further behind, and to each of the orders behind in turn. So a task that yields
/// forever keeps no other from running.
///
/// A plain value behind the worker's lock. Complexity: O(1) for each node.
struct OrderedNodes {
    /// The number of turns of which one goes to a node further behind.
    static let fairness = 16

    /// Whether this process has had any such nodes. If not, no thread looks for them.
    static let areUsed = Atomic<Bool>(false)

    /// The lists by position; 0 goes first. The list at ``plain`` is empty: the worker's queue itself holds the nodes
    /// without an order.
    private var lists: [23 of NodeList] = .init(repeating: NodeList())

    /// The positions with nodes, as bits.
    private var occupied: UInt32 = 0

    /// The number of nodes in a row that went before others.
    private var turns = 0

    /// The position that last got a turn of those further behind, as a bit.
    private var latestBehind: UInt32 = 1

    /// The node at which the next look of ``extract(limit:where:)`` begins, and its position; `nil` for the front of
    /// all. Never a node that has left its list.
    private var cursor: JobNode?
    private var cursorPosition = 0

    private(set) var count = 0

    /// The position of the nodes without an order, as a bit, and the positions before and behind it.
    private static let plain: UInt32 = 1 << 7
    private static let before = plain - 1
    private static let behind = ~(plain | before)

    @inline(__always)
    var isEmpty: Bool { occupied == 0 }

    /// Returns the position of a node: before those without an order by its precedence, or behind them by its lowering.
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

    /// Takes the next node; `nil` when it is the turn of the nodes without an order.
    ///
    /// - Parameter othersWait: whether nodes without an order wait.
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

    /// Returns the position that goes first, as a bit.
    private static func first(of positions: UInt32) -> UInt32 { positions & (~positions &+ 1) }

    private mutating func popFirst(at bit: UInt32) -> JobNode? {
        guard bit != Self.plain, bit != 0 else { return nil }
        let position = bit.trailingZeroBitCount
        let node = lists[position].popFirst()
        if node == cursor { cursor = node?.next }
        count -= 1
        clearIfEmpty(position)
        return node
    }

    mutating func remove(_ node: JobNode) {
        let position = Self.position(of: node)
        if node == cursor { cursor = node.next }
        lists[position].remove(node)
        count -= 1
        clearIfEmpty(position)
    }

    /// Returns the first position with nodes before those without an order, or behind them; `nil` for none.
    private func firstOccupied(behind: Bool) -> Int? {
        let positions = occupied & (behind ? Self.behind : Self.before)
        return positions == 0 ? nil : positions.trailingZeroBitCount
    }

    /// Takes the older half of the highest nodes for a thief; at most `limit`.
    ///
    /// - Parameter behind: `true` for the nodes behind the others, `false` for those before them.
    mutating func steal(_ limit: Int, behind: Bool = false) -> NodeList {
        guard let list = firstOccupied(behind: behind) else { return NodeList() }
        let taken = lists[list].takeFirst(min((lists[list].count + 1) / 2, limit))
        cursor = nil
        count -= taken.count
        clearIfEmpty(list)
        return taken
    }

    /// Takes out the nodes for which the predicate holds. Looks at up to `limit` nodes, from the end of the last look on.
    mutating func extract(limit: Int, where isMeant: (JobNode) -> Bool) -> NodeList {
        var taken = NodeList()
        var left = limit
        var position = cursor == nil ? 0 : cursorPosition
        var node = cursor ?? lists[0].head
        while true {
            guard let current = node else {
                position += 1
                guard position < lists.count else { break }
                node = lists[position].head
                continue
            }
            guard left > 0 else { break }
            node = current.next
            left -= 1
            guard isMeant(current) else { continue }
            remove(current)
            taken.append(current)
        }
        (cursor, cursorPosition) = (node, position)
        return taken
    }

    /// Takes all nodes before the others, or all nodes behind them, the highest first.
    mutating func takeAll(behind: Bool = false) -> NodeList {
        var all = NodeList()
        cursor = nil
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
