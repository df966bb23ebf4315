extension OperationGraph {
    /// Returns the cycle that a dependency would close, as operations each of which depends on the next; `nil` without
    /// one.
    ///
    /// The search alternates between both ends: down from the child and up from the parent. It ends when either side is
    /// exhausted.
    mutating func cycle(closedBy child: UInt32, dependingOn parent: UInt32) -> [UInt32]? {
        if child == parent { return [child] }
        guard operations[Int(child)].firstDependent != DependencyEdges.none,
            operations[Int(parent)].firstParent != DependencyEdges.none
        else { return nil }
        let (down, up) = nextSearch()
        var below = [child]
        var above = [parent]
        operations[Int(child)].searchMark = down
        operations[Int(parent)].searchMark = up
        while let lower = below.popLast(), let upper = above.popLast() {
            var edge = operations[Int(lower)].firstDependent
            while edge != DependencyEdges.none {
                let next = edges[edge].child
                if next != DependencyEdges.none, visit(next, mark: down, other: up, &below) {
                    return path(from: parent, to: child)
                }
                edge = edges[edge].nextOfParent
            }
            edge = operations[Int(upper)].firstParent
            while edge != DependencyEdges.none {
                if visit(edges[edge].parent, mark: up, other: down, &above) { return path(from: parent, to: child) }
                edge = edges[edge].nextOfChild
            }
        }
        return nil
    }

    /// Returns the marks of a new search, which no operation has.
    private mutating func nextSearch() -> (down: UInt32, up: UInt32) {
        if lastSearch >= UInt32.max - 1 {
            for index in operations.indices { operations[index].searchMark = 0 }
            lastSearch = 0
        }
        lastSearch += 2
        return (lastSearch, lastSearch + 1)
    }

    /// Marks an operation, and queues it for the search if it is new.
    ///
    /// - Returns: whether the search from the other end has visited it.
    private mutating func visit(_ operation: UInt32, mark: UInt32, other: UInt32, _ open: inout [UInt32]) -> Bool {
        let found = operations[Int(operation)].searchMark
        if found == other { return true }
        if found != mark {
            operations[Int(operation)].searchMark = mark
            open.append(operation)
        }
        return false
    }

    /// Returns the way from an operation up to one of its dependencies: the child first, then the operation, and so on.
    private func path(from parent: UInt32, to child: UInt32) -> [UInt32] {
        var dependentOf = [parent: parent]
        var open = [parent]
        while let operation = open.popLast(), operation != child {
            var edge = operations[Int(operation)].firstParent
            while edge != DependencyEdges.none {
                let next = edges[edge].parent
                if dependentOf[next] == nil {
                    dependentOf[next] = operation
                    open.append(next)
                }
                edge = edges[edge].nextOfChild
            }
        }
        var path = [child]
        while let last = path.last, last != parent, let dependent = dependentOf[last] { path.append(dependent) }
        return [child] + path.dropFirst().reversed()
    }
}
