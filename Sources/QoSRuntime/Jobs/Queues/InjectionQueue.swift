import Synchronization

/// The queue through which threads outside the pool hand work to it: many producers, no lock.
///
/// The queue is a stack of intrusive nodes. A producer links its node before the head with one compare-and-swap. A
/// consumer takes the whole stack with one exchange and reverses it, so the order is first in, first out within a
/// batch. No node is ever popped singly, so there is no ABA problem. No lock is held, so a producer of a high class
/// never waits for a preempted thread of a low one (`Docs/Inside/Protocols/wake-park.md`).
///
/// Threading: any thread.
struct InjectionQueue: ~Copyable {
    private let head = Atomic<UInt>(0)

    /// Whether the queue is empty. Sequentially consistent, as the parking protocol needs it.
    @inline(__always)
    var isEmpty: Bool { head.load(ordering: .sequentiallyConsistent) == 0 }

    /// Adds a prepared node. Lock-free, O(1).
    @inline(__always)
    func push(_ node: JobNode) {
        var current = head.load(ordering: .relaxed)
        while true {
            node.next = current == 0 ? nil : JobNode(address: current)
            let (exchanged, original) = head.weakCompareExchange(
                expected: current, desired: node.address, successOrdering: .sequentiallyConsistent,
                failureOrdering: .relaxed)
            if exchanged { return }
            current = original
        }
    }

    /// Takes all nodes, the oldest first. O(nodes taken).
    func takeAll() -> NodeList {
        guard head.load(ordering: .relaxed) != 0 else { return NodeList() }
        let top = head.exchange(0, ordering: .sequentiallyConsistent)
        var reversed: JobNode?
        var node: JobNode? = top == 0 ? nil : JobNode(address: top)
        while let current = node {
            node = current.next
            current.next = reversed
            reversed = current
        }
        var list = NodeList()
        node = reversed
        while let current = node {
            node = current.next
            list.append(current)
        }
        return list
    }
}
