/// A doubly linked queue of nodes, linked through the nodes themselves. No operation allocates.
///
/// Threading: a plain value; its owner guards it.
struct NodeList {
    private(set) var head: JobNode?
    private(set) var tail: JobNode?
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Appends a node. O(1).
    @inline(__always)
    mutating func append(_ node: JobNode) {
        node.next = nil
        node.previous = tail
        if let tail {
            tail.next = node
        } else {
            head = node
        }
        tail = node
        count &+= 1
    }

    /// Takes the first node. O(1).
    @inline(__always)
    mutating func popFirst() -> JobNode? {
        guard let node = head else { return nil }
        head = node.next
        if let head {
            head.previous = nil
        } else {
            tail = nil
        }
        count &-= 1
        return node
    }

    /// Takes a node out of the middle. O(1). The node must be in this list.
    mutating func remove(_ node: JobNode) {
        let (before, after) = (node.previous, node.next)
        if let before { before.next = after } else { head = after }
        if let after { after.previous = before } else { tail = before }
        count &-= 1
    }

    /// Notes its present place in each node. O(nodes).
    func settle(at place: JobNode.Place) {
        var node = head
        while let current = node {
            current.settle(at: place)
            node = current.next
        }
    }

    /// Appends all nodes of another list. O(1).
    mutating func append(contentsOf other: consuming NodeList) {
        guard let first = other.head else { return }
        first.previous = tail
        if let tail {
            tail.next = first
        } else {
            head = first
        }
        tail = other.tail
        count &+= other.count
    }

    /// Splits off the first nodes, at most `limit`. O(limit).
    mutating func takeFirst(_ limit: Int) -> NodeList {
        guard limit > 0, let first = head else { return NodeList() }
        if limit >= count {
            defer { self = NodeList() }
            return self
        }
        var last = first
        for _ in 1..<limit {
            guard let following = last.next else { break }
            last = following
        }
        var taken = NodeList()
        taken.head = first
        taken.tail = last
        taken.count = limit
        head = last.next
        head?.previous = nil
        last.next = nil
        count &-= limit
        return taken
    }
}
