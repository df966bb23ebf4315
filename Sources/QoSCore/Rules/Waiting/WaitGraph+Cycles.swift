extension WaitGraph {
    /// The cycle that a wait would close; `nil` when somebody who does not wait could end it, now or in the end.
    ///
    /// One share of a resource is enough; of the parties that the graph was not told of, every one has to go on. Where there is no way
    /// back to the party, it would join others that wait for one another already: the way to them and around.
    ///
    /// Complexity: O(parties down the chain × what each waits for).
    ///
    /// - Parameter blockers: who has to go on before a resource comes free of which the graph knows no holder: every one of them;
    ///   none where that is not known, and the wait may then end.
    func cycle(
        closedBy party: Party, waitingFor resource: Resource, blockers: (Resource) -> [Party]
    ) -> WaitCycle<Party, Resource>? {
        let standstill = Standstill<Party, Resource>(from: CollectionOfOne(party)) { waiter in
            if waiter == party { return wait(for: resource, blockers) }
            guard let node = nodes[waiter], !node.mayBeFreedByOthers, let awaited = node.waitsFor else { return nil }
            return wait(for: awaited, blockers)
        }
        guard standstill.includes(party) else { return nil }
        let circle = standstill.circle(through: party)
        return WaitCycle(links: circle.isEmpty ? standstill.way(from: party) : circle)
    }

    private func wait(for resource: Resource, _ blockers: (Resource) -> [Party]) -> Standstill<Party, Resource>.Wait? {
        let holders = holders(of: resource)
        if !holders.isEmpty { return .any(1, of: holders.map { ($0, resource) }) }
        return .all(blockers(resource).map { ($0, resource) })
    }

    /// Whether a chain of waits that begins at a resource has more than so many holders one behind the other.
    func isLonger(than limit: Int, from resource: Resource) -> Bool {
        var level: Set<Party> = Set(holders(of: resource))
        var seen = level
        var depth = 1
        while !level.isEmpty {
            if depth > limit { return true }
            var next: Set<Party> = []
            for party in level {
                guard let node = nodes[party], node.isLinked, let awaited = node.waitsFor else { continue }
                for holder in holders(of: awaited) where seen.insert(holder).inserted { next.insert(holder) }
            }
            level = next
            depth += 1
        }
        return false
    }
}
