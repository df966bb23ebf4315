// The order of the heap: a binary min-heap by (deadline, insertion) in an array, children of `i` at `2i + 1` and
// `2i + 2`, augmented with the minimum of the window ends of each subtree (as in Cormen et al., "Introduction to
// Algorithms", chapter on augmenting data structures). A change touches the nodes of one path, so keeping the minima
// costs no more than the ordering itself.

extension TimerHeap {
    /// A timer in the heap. 32 bytes.
    struct Node: Sendable {
        /// The start of the window.
        let deadline: UInt64
        /// The end of the window.
        let end: UInt64
        /// The earliest end in the subtree of this node, its own included.
        var earliestEnd: UInt64
        /// The index of the timer's slot.
        let slot: UInt32

        init(deadline: UInt64, end: UInt64, slot: UInt32) {
            self.deadline = deadline
            self.end = end
            self.earliestEnd = end
            self.slot = slot
        }
    }

    /// The place of a timer's node. 16 bytes.
    struct Slot: Sendable {
        /// The number of the timer's insertion; 0 in a free slot.
        var sequence: UInt64
        /// The index of the timer's node; in a free slot the next free slot.
        var position: UInt32

        /// No slot: the end of the list of free ones.
        static let none = UInt32.max
    }

    /// Adds a node at its place, in O(log n).
    mutating func add(_ node: Node) {
        nodes.append(node)
        moveUp(node, from: nodes.count - 1)
    }

    /// Removes the node at an index, in O(log n).
    mutating func remove(at index: Int) {
        let last = nodes.removeLast()
        if nodes.isEmpty { return }
        // The place that went away is a leaf; its ancestors forget it before anything moves.
        refresh(upFrom: (nodes.count - 1) / 2, atLeastTo: (nodes.count - 1) / 2)
        guard index < nodes.count else { return }
        if index > 0, precedes(last, nodes[(index - 1) / 2]) {
            moveUp(last, from: index)
        } else {
            moveDown(last, from: index)
        }
    }

    /// Places a node at an index or above it, and moves lower ancestors down.
    private mutating func moveUp(_ node: Node, from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard precedes(node, nodes[parent]) else { break }
            place(nodes[parent], at: index)
            index = parent
        }
        place(node, at: index)
        // The displaced ancestors lie on the path from where the way began.
        refresh(upFrom: start, atLeastTo: index)
    }

    /// Places a node at an index or below it, and moves higher descendants up.
    private mutating func moveDown(_ node: Node, from start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < nodes.count else { break }
            if child + 1 < nodes.count, precedes(nodes[child + 1], nodes[child]) {
                child += 1
            }
            guard precedes(nodes[child], node) else { break }
            place(nodes[child], at: index)
            index = child
        }
        place(node, at: index)
        refresh(upFrom: index, atLeastTo: start)
    }

    private mutating func place(_ node: Node, at index: Int) {
        nodes[index] = node
        slots[Int(node.slot)].position = UInt32(index)
    }

    /// Computes the minima again, upwards from an index: of every node up to another index, above it as far as they
    /// change.
    ///
    /// A timer that is added with the latest deadline and window, as nearly all are, changes one or two.
    ///
    /// - Complexity: O(log n).
    private mutating func refresh(upFrom start: Int, atLeastTo last: Int) {
        var index = start
        while true {
            let left = 2 * index + 1
            var earliest = nodes[index].end
            if left < nodes.count {
                earliest = min(earliest, nodes[left].earliestEnd)
            }
            if left + 1 < nodes.count {
                earliest = min(earliest, nodes[left + 1].earliestEnd)
            }
            let isUnchanged = nodes[index].earliestEnd == earliest
            nodes[index].earliestEnd = earliest
            if index == 0 || index < last && isUnchanged { return }
            index = (index - 1) / 2
        }
    }

    private func precedes(_ left: Node, _ right: Node) -> Bool {
        guard left.deadline == right.deadline else { return left.deadline < right.deadline }
        return slots[Int(left.slot)].sequence < slots[Int(right.slot)].sequence
    }

    /// Whether order, minima, positions and the list of free slots are as they must be; for tests. O(n).
    var isConsistent: Bool {
        for (index, node) in nodes.enumerated() {
            var earliest = node.end
            for child in [2 * index + 1, 2 * index + 2] where child < nodes.count {
                if precedes(nodes[child], node) { return false }
                earliest = min(earliest, nodes[child].earliestEnd)
            }
            if node.earliestEnd != earliest || slots[Int(node.slot)].position != UInt32(index) { return false }
        }
        var free: Set<UInt32> = []
        var next = firstFree
        while next != Slot.none {
            guard slots[Int(next)].sequence == 0, free.insert(next).inserted else { return false }
            next = slots[Int(next)].position
        }
        return nodes.count + free.count == slots.count
    }
}
