extension WaitGraph {
    /// Who waits and cannot go on before others do.
    private struct Stand {
        let resource: Resource
        let holders: [Party]
        /// How many of the holders have to go on before the party can: one share of a resource is enough, of the parties that the
        /// graph was not told of every one has to.
        var missing: Int
    }

    /// The cycle that a wait would close; `nil` when somebody who does not wait could end it, now or in the end.
    ///
    /// Complexity: O(parties down the chain × what each waits for).
    ///
    /// - Parameter blockers: who has to go on before a resource comes free of which the graph knows no holder: every one of them;
    ///   none where that is not known, and the wait may then end.
    func cycle(
        closedBy party: Party, waitingFor resource: Resource, blockers: (Resource) -> [Party]
    ) -> WaitCycle<Party, Resource>? {
        var stands: [Party: Stand] = [:]
        var dependents: [Party: [Party]] = [:]
        var free: [Party] = []
        var seen: Set<Party> = [party]
        var pending = [party]
        while let waiter = pending.popLast() {
            let node = waiter == party ? nil : nodes[waiter]
            guard let awaited = waiter == party ? resource : node?.waitsFor, node?.mayBeFreedByOthers != true,
                let stand = stand(of: awaited, blockers)
            else {
                free.append(waiter)
                continue
            }
            stands[waiter] = stand
            for holder in stand.holders {
                dependents[holder, default: []].append(waiter)
                if seen.insert(holder).inserted { pending.append(holder) }
            }
        }
        while let party = free.popLast() {
            for waiter in dependents[party] ?? [] {
                stands[waiter]?.missing -= 1
                // Several shares may come free; it goes on at the first.
                if stands[waiter]?.missing == 0 {
                    stands[waiter] = nil
                    free.append(waiter)
                }
            }
        }
        guard stands[party] != nil else { return nil }
        return WaitCycle(links: links(from: party, stands))
    }

    private func stand(of resource: Resource, _ blockers: (Resource) -> [Party]) -> Stand? {
        let holders = holders(of: resource)
        if !holders.isEmpty { return Stand(resource: resource, holders: holders, missing: 1) }
        let others = blockers(resource)
        return others.isEmpty ? nil : Stand(resource: resource, holders: others, missing: others.count)
    }

    /// The shortest way from a party back to itself over those that can never go on. Where there is none, the party would join others
    /// that wait for one another already: the way to them and around.
    private func links(from party: Party, _ stands: [Party: Stand]) -> [WaitCycle<Party, Resource>.Link] {
        var cameBy: [Party: WaitCycle<Party, Resource>.Link] = [:]
        var pending = [party]
        var next = 0
        while next < pending.count, cameBy[party] == nil {
            let waiter = pending[next]
            next += 1
            guard let stand = stands[waiter] else { continue }
            for holder in stand.holders where stands[holder] != nil && cameBy[holder] == nil {
                cameBy[holder] = .init(waiter: waiter, resource: stand.resource, holder: holder)
                pending.append(holder)
            }
        }
        var links: [WaitCycle<Party, Resource>.Link] = []
        if cameBy[party] != nil {
            var link = cameBy[party]
            while let found = link {
                links.append(found)
                link = found.waiter == party ? nil : cameBy[found.waiter]
            }
            return links.reversed()
        }
        var passed: Set<Party> = []
        var waiter = party
        while passed.insert(waiter).inserted, let stand = stands[waiter],
            let holder = stand.holders.first(where: { stands[$0] != nil })
        {
            links.append(.init(waiter: waiter, resource: stand.resource, holder: holder))
            waiter = holder
        }
        return links
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
