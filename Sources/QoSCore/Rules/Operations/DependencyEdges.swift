/// The dependencies of a graph: each stands in the list of what its child depends on, which is linked both ways, and in the
/// list of what depends on its parent. A pool of fixed-size records; a dependency costs 20 bytes and no allocation.
struct DependencyEdges: Sendable {
    static let none = UInt32.max

    struct Edge: Sendable {
        /// What has to finish first.
        var parent: UInt32
        /// What waits for it.
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

    /// Gives an edge back that is in no list any more.
    mutating func free(_ index: UInt32) {
        edges[Int(index)].nextOfParent = firstFree
        firstFree = index
    }
}
