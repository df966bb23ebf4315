import Synchronization

/// The nodes of a worker's queue that go before the others of their class, by how far: Swift tasks with a priority between that of
/// their class and the next.
///
/// The highest go first, those of one precedence in the order of their arrival. One job in ``fairness`` is left to the nodes without, so
/// that a task that yields for ever does not keep them from running.
///
/// A plain value behind the worker's lock. Complexity: O(1) for each node.
struct PrecedingNodes {
    /// How many nodes in a row may go before the others.
    static let fairness = 16

    /// Whether there has been any in this process: where there has not, nobody looks for them.
    static let areUsed = Atomic<Bool>(false)

    private var lists: [8 of NodeList] = .init(repeating: NodeList())
    private var occupied: UInt8 = 0
    private var runs = 0
    private(set) var count = 0

    @inline(__always)
    var isEmpty: Bool { occupied == 0 }

    private var highest: Int { 7 - occupied.leadingZeroBitCount }

    mutating func append(_ node: JobNode) {
        lists[node.tag.precedence].append(node)
        occupied |= 1 << UInt8(node.tag.precedence)
        count += 1
    }

    /// The next node; `nil` when it is the turn of those without precedence.
    ///
    /// - Parameter othersWait: whether there are any.
    mutating func pop(othersWait: Bool) -> JobNode? {
        guard !isEmpty else { return nil }
        if othersWait, runs >= Self.fairness - 1 {
            runs = 0
            return nil
        }
        runs = othersWait ? runs + 1 : 0
        let list = highest
        let node = lists[list].popFirst()
        count -= 1
        clearIfEmpty(list)
        return node
    }

    mutating func remove(_ node: JobNode) {
        lists[node.tag.precedence].remove(node)
        count -= 1
        clearIfEmpty(node.tag.precedence)
    }

    /// The older half of the highest, for a thief; at most `limit`.
    mutating func steal(_ limit: Int) -> NodeList {
        guard !isEmpty else { return NodeList() }
        let list = highest
        let taken = lists[list].takeFirst(min((lists[list].count + 1) / 2, limit))
        count -= taken.count
        clearIfEmpty(list)
        return taken
    }

    /// Takes out the nodes for which it holds, of the first `limit` of each precedence.
    mutating func extract(limit: Int, where isMeant: (JobNode) -> Bool) -> NodeList {
        var taken = NodeList()
        for list in 0..<8 where occupied & (1 << UInt8(list)) != 0 {
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

    /// All, the highest first.
    mutating func takeAll() -> NodeList {
        var all = NodeList()
        while !isEmpty {
            let list = highest
            all.append(contentsOf: lists[list])
            lists[list] = NodeList()
            clearIfEmpty(list)
        }
        (count, runs) = (0, 0)
        return all
    }

    private mutating func clearIfEmpty(_ list: Int) {
        if lists[list].isEmpty { occupied &= ~(1 << UInt8(list)) }
    }
}
