extension WaitGraph {
    /// Brings the inherited levels of some parties, and of everybody down their chains, to the least fixed point.
    ///
    /// They are first taken back and then raised from those who wait outside: where shares of semaphores make a circle, its
    /// members would else keep one another up.
    mutating func settle(from starts: [Party]) -> [WaitRaise<Party>] {
        let affected = reached(from: starts)
        let before = affected.map { nodes[$0]?.inherited }
        for party in affected { setInherited(nil, of: party) }
        var pending = affected
        while let party = pending.popLast() {
            guard let node = nodes[party] else { continue }
            let level = node.holds.reduce(node.inherited) { QoSLevel.higher($0, levelOfHighestWaiter(for: $1)) }
            guard level != node.inherited else { continue }
            setInherited(level, of: party)
            if node.isLinked, let resource = node.waitsFor { pending.append(contentsOf: holders(of: resource)) }
        }
        return zip(affected, before).compactMap { party, before in
            let now = nodes[party]?.inherited
            return now == before ? nil : WaitRaise(party: party, level: now)
        }
    }

    /// The parties and everybody whom their waits raise, each once.
    private func reached(from starts: [Party]) -> [Party] {
        var seen: Set<Party> = []
        var order: [Party] = []
        var pending = Array(starts.reversed())
        while let party = pending.popLast() {
            guard let node = nodes[party], seen.insert(party).inserted else { continue }
            order.append(party)
            if node.isLinked, let resource = node.waitsFor { pending.append(contentsOf: holders(of: resource)) }
        }
        return order
    }

    private func levelOfHighestWaiter(for resource: Resource) -> QoSLevel? {
        entries[resource]?.waiters.first { nodes[$0]?.isLinked == true }.flatMap { nodes[$0]?.effective }
    }

    private mutating func setInherited(_ level: QoSLevel?, of party: Party) {
        guard let node = nodes[party], node.inherited != level else { return }
        if let resource = node.waitsFor { removeWaiter(party, from: resource) }
        nodes[party]?.inherited = level
        if let resource = node.waitsFor { insertWaiter(party, into: resource) }
    }

    // MARK: The order of the waiters

    mutating func insertWaiter(_ party: Party, into resource: Resource) {
        let place = place(of: party, in: resource)
        entries[resource, default: Entry()].waiters.insert(party, at: place)
    }

    mutating func removeWaiter(_ party: Party, from resource: Resource) {
        let place = place(of: party, in: resource)
        guard let waiters = entries[resource]?.waiters, place < waiters.count, waiters[place] == party else { return }
        entries[resource]?.waiters.remove(at: place)
    }

    /// Where a party stands, or would, by binary search.
    private func place(of party: Party, in resource: Resource) -> Int {
        guard let node = nodes[party], let waiters = entries[resource]?.waiters else { return 0 }
        var (low, high) = (0, waiters.count)
        while low < high {
            let middle = (low + high) / 2
            if let other = nodes[waiters[middle]], Self.goesBefore(other, node) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    private static func goesBefore(_ left: Node, _ right: Node) -> Bool {
        guard left.effective != right.effective else { return left.sequence < right.sequence }
        guard let level = left.effective else { return false }
        return right.effective.map { level > $0 } ?? true
    }
}
