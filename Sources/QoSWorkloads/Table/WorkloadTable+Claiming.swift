internal import QoSCore

extension WorkloadTable {
    /// Ends attempts, and then gives a host its next items.
    ///
    /// The standings are those after the ends: an end may raise what runs.
    package mutating func exchanged(
        _ exchange: HostExchange, at now: WallTime, _ effects: inout TableEffects
    ) -> HostExchange.Answer {
        var answer = HostExchange.Answer(mark: TermsMark(number: 0))
        for end in exchange.ends {
            if let progress = end.progress { _ = saved(nil, progress, under: end.lease) }
            answer.ends.append(attemptEnded(end.lease, end.result, at: now, &effects))
        }
        if let request = exchange.claim { answer.claims = claimed(request, at: now, &effects) }
        answer.mark = TermsMark(number: mark)
        if exchange.mark != answer.mark {
            for lease in exchange.leases { answer.standings[lease] = standing(of: lease) }
        }
        answer.nextDue = nextDue()
        return answer
    }

    /// Gives a host its next items, one after the other.
    package mutating func claimed(
        _ request: ClaimRequest, at now: WallTime, _ effects: inout TableEffects
    ) -> [WorkloadClaim] {
        let (hadReady, hadScheduled) = (effects.hasReady, effects.hasScheduled)
        clockRead(now, &effects)
        judgeGates(request, at: now)
        var rest = request
        var claims: [WorkloadClaim] = []
        while claims.count < request.limit, let claim = nextClaim(rest, at: now) {
            rest.places[claim.record.level.qosClass, default: 0] -= 1
            claims.append(claim)
        }
        // The asking host looks anyway; others need no hint because of its question.
        (effects.hasReady, effects.hasScheduled) = (hadReady, hadScheduled)
        return claims
    }

    /// Gives a host its next item, with a new lease.
    ///
    /// The highest effective level wins. At that level the workloads take turns. Inside of a workload the earliest due
    /// time wins, then the lowest number.
    ///
    /// - Complexity: O(lanes + log n).
    private mutating func nextClaim(_ request: ClaimRequest, at now: WallTime) -> WorkloadClaim? {
        let classes = request.classes
        var best: (entry: StampedHeap<ReadyOrder>.Entry, lane: Lane.Key, qosClass: QoSClass, turn: Int)?
        for key in Array(lanes.keys) where request.covers(key.name, version: key.version) && isOpen(key) {
            guard let (entry, qosClass) = head(of: key, classes: classes) else { continue }
            let turn = self.turn(of: Flow(name: key.name, qosClass: qosClass))
            if let found = best {
                let other = found.entry
                guard
                    (other.order.level, turn, entry.order.due, entry.item)
                        < (entry.order.level, found.turn, other.order.due, other.item)
                else { continue }
            }
            best = (entry, key, qosClass, turn)
        }
        guard let best else { return nil }
        turns[Flow(name: best.lane.name, qosClass: best.qosClass)] = best.turn + 1
        lastTurn[best.qosClass.rank] = best.turn
        return claim(best.entry.item, request, at: now)
    }

    private mutating func claim(
        _ id: WorkloadItemID, _ request: ClaimRequest, at now: WallTime
    ) -> WorkloadClaim? {
        guard let fence = self[id].record.life.claimed(by: request.host, in: request.process, at: now) else {
            return nil
        }
        running.insert(id)
        let record = self[id].record
        if let key = record.request.concurrency {
            keys[key.key, default: KeyUse(since: now)].running.insert(id)
            keys[key.key]?.since = now
        }
        // The next item of the line takes its place only if the key has one more.
        unqueue(id)
        self[id].record.attemptBegan(at: now)
        return WorkloadClaim(lease: WorkloadLease(item: id, fence: fence), record: self[id].record)
    }

    /// The turn of a flow. One that was idle has no claim to the turns that it did not take.
    private func turn(of flow: Flow) -> Int {
        max(turns[flow] ?? 0, lastTurn[flow.qosClass.rank])
    }

    private func isOpen(_ key: Lane.Key) -> Bool {
        paused[key.name] == nil && gates[key.gate].closed == nil
    }

    /// Asks the host about the conditions of items that it could run.
    private mutating func judgeGates(_ request: ClaimRequest, at now: WallTime) {
        guard gates.count > 1 else { return }
        let own = lanes.filter { request.covers($0.key.name, version: $0.key.version) && $0.value.live > 0 }
        let needed = Set(own.map(\.key.gate))
        for number in needed.sorted() where number > 0 {
            let reasons = gates[number].conditions.compactMap { condition -> String? in
                if case .unmet(let reason) = request.verdict(condition) { reason } else { nil }
            }
            if reasons.isEmpty {
                gates[number].closed = nil
            } else {
                let since = gates[number].closed?.since ?? now
                gates[number].closed = (reasons.sorted().joined(separator: "; "), since)
            }
        }
    }
}
