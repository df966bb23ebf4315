extension WaitGraph {
    /// The cycle that a wait would close; `nil` when somebody who does not wait could end it, now or in the end.
    ///
    /// Complexity: O(parties down the chain).
    func cycle(closedBy party: Party, waitingFor resource: Resource) -> WaitCycle<Party, Resource>? {
        guard !holders(of: resource).isEmpty else { return nil }
        var cameBy: [Party: WaitCycle<Party, Resource>.Link] = [:]
        var pending = [(party, resource)]
        var closing: WaitCycle<Party, Resource>.Link?
        while let (waiter, resource) = pending.popLast() {
            let holders = holders(of: resource)
            if holders.isEmpty { return nil }
            for holder in holders {
                let link = WaitCycle<Party, Resource>.Link(waiter: waiter, resource: resource, holder: holder)
                if holder == party {
                    closing = closing ?? link
                } else if cameBy[holder] == nil {
                    cameBy[holder] = link
                    guard let next = nodes[holder]?.waitsFor else { return nil }
                    pending.append((holder, next))
                }
            }
        }
        // Without a way back, the party would join others that wait for one another already: their waits are the cycle.
        var link = closing ?? cameBy.values.first
        var links: [WaitCycle<Party, Resource>.Link] = []
        while let found = link, links.count <= cameBy.count {
            links.append(found)
            link = found.waiter == party ? nil : cameBy[found.waiter]
        }
        return WaitCycle(links: links.reversed())
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
