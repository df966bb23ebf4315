extension WaitGraph {
    /// A party got a resource, without waiting for it.
    package mutating func acquired(_ party: Party, _ resource: Resource) -> [WaitRaise<Party>] {
        nodes[party, default: Node()].holds.append(resource)
        entries[resource, default: Entry()].holders.append(party)
        return settle(from: [party])
    }

    /// A party begins to wait; it must not wait for anything yet.
    ///
    /// - Parameters:
    ///   - own: the level at which it waits, without what it inherits.
    ///   - mayBeFreedByOthers: whether somebody whom the graph does not know can end the wait.
    ///   - refusesCycle: `false` for a wait that cannot be refused.
    ///   - blockers: who has to go on before a resource comes free of which the graph knows no holder, as far as that is known: every
    ///     one of them. Asked for this and for what others wait for.
    /// - Throws: ``WaitCycle`` when it could never end; nothing has changed then.
    package mutating func waits(
        _ party: Party, at own: QoSLevel?, for resource: Resource, mayBeFreedByOthers: Bool = false,
        refusesCycle: Bool = true, blockers: (Resource) -> [Party] = { _ in [] }
    ) throws(WaitCycle<Party, Resource>) -> WaitOutcome<Party> {
        if refusesCycle, !mayBeFreedByOthers,
            let cycle = cycle(closedBy: party, waitingFor: resource, blockers: blockers)
        {
            throw cycle
        }
        let isBeyondDepth = isLonger(than: depthLimit, from: resource)
        lastSequence += 1
        var node = nodes[party] ?? Node()
        (node.own, node.waitsFor, node.sequence, node.isLinked) = (own, resource, lastSequence, !isBeyondDepth)
        node.mayBeFreedByOthers = mayBeFreedByOthers
        nodes[party] = node
        insertWaiter(party, into: resource)
        return WaitOutcome(raises: settle(from: holders(of: resource)), isBeyondDepth: isBeyondDepth)
    }

    /// A party no longer waits: it gave up, or got what it waited for.
    package mutating func stoppedWaiting(_ party: Party) -> [WaitRaise<Party>] {
        guard let resource = nodes[party]?.waitsFor else { return [] }
        removeWaiter(party, from: resource)
        nodes[party]?.waitsFor = nil
        nodes[party]?.own = nil
        let affected = holders(of: resource)
        forgetIfIdle(party)
        forgetIfUnused(resource)
        return settle(from: affected)
    }

    /// A party gave a resource back, or one of several shares of it.
    package mutating func released(_ party: Party, _ resource: Resource) -> [WaitRaise<Party>] {
        guard let place = nodes[party]?.holds.firstIndex(of: resource) else { return [] }
        nodes[party]?.holds.remove(at: place)
        if let place = entries[resource]?.holders.firstIndex(of: party) { entries[resource]?.holders.remove(at: place) }
        forgetIfUnused(resource)
        let raises = settle(from: [party])
        forgetIfIdle(party)
        return raises
    }

    /// The level at which a waiting party waits has changed.
    package mutating func levelChanged(_ party: Party, to own: QoSLevel?) -> [WaitRaise<Party>] {
        guard let resource = nodes[party]?.waitsFor, nodes[party]?.own != own else { return [] }
        removeWaiter(party, from: resource)
        nodes[party]?.own = own
        insertWaiter(party, into: resource)
        return settle(from: holders(of: resource))
    }

    /// A resource, or one share of it, goes from one party to the next waiter: the highest, the first among equals.
    ///
    /// - Returns: the new holder, `nil` if nobody waits; and whose inherited level changed.
    package mutating func handedOver(
        _ resource: Resource, from holder: Party?
    ) -> (next: Party?, raises: [WaitRaise<Party>]) {
        let next = entries[resource]?.waiters.first
        var raises = holder.map { released($0, resource) } ?? []
        if let next {
            raises += stoppedWaiting(next)
            raises += acquired(next, resource)
        }
        return (next, raises)
    }

    private mutating func forgetIfIdle(_ party: Party) {
        if nodes[party]?.isIdle == true { nodes[party] = nil }
    }

    private mutating func forgetIfUnused(_ resource: Resource) {
        if let entry = entries[resource], entry.holders.isEmpty, entry.waiters.isEmpty { entries[resource] = nil }
    }
}
