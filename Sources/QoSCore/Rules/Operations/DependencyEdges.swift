/// The dependencies of a graph, as a pool of fixed-size records. A dependency costs 20 bytes and no allocation.
///
/// Each dependency is in two lists: that of its child, which is linked both ways, and that of its parent.
struct DependencyEdges: Sendable {
    static let none = UInt32.max

    struct Edge: Sendable {
        /// The operation that has to finish first.
        var parent: UInt32
        /// The operation that waits.
        var child: UInt32
        var nextOfChild: UInt32
        var previousOfChild: UInt32
        var nextOfParent: UInt32
    }

    private var edges: [Edge] = []
    private var firstFree = Self.none

    subscript(index: UInt32) -> Edge {
        get { edges[Int(index)] }
        _modify { yield &edges[Int(index)] }
    }

    /// Makes an edge.
    mutating func insert(_ edge: Edge) -> UInt32 {
        guard firstFree != Self.none else {
            edges.append(edge)
            return UInt32(edges.count - 1)
        }
        let index = firstFree
        firstFree = edges[Int(index)].nextOfParent
        edges[Int(index)] = edge
        return index
    }

    /// Frees an edge that is in no list any more.
    mutating func free(_ index: UInt32) {
        edges[Int(index)].nextOfParent = firstFree
        firstFree = index
    }
}
