// What every event does before and after its own change.

extension AdmissionMachine {
    /// Brings clocks, starvation windows and fences to a time, before an event changes anything.
    mutating func passTime(to time: SchedulerInstant) {
        let elapsed = time.nanoseconds - now.nanoseconds
        guard elapsed > 0 else { return }
        now = time
        let standAside = table.standingAside
        for rank in 0..<5 { countTime(elapsed, rank: rank, whileAside: standAside) }
        let halved = fences.halve(at: now)
        if halved > 0 {
            counters.fencesHalved &+= UInt64(halved)
            applyFences()
        }
    }

    /// Admits the classes that the rules allow, and returns the driver's actions.
    ///
    /// One pass is enough: admission only adds workers, and a claim only takes places away.
    mutating func settle() -> AdmissionActions {
        for rank in 0..<4 { dropVoidClaims(rank: rank) }
        let admitted = admitWaiting()
        updateStandings()
        for rank in 0..<4 { makeClaims(rank: rank) }
        return AdmissionActions(
            admit: admitted, mustAsk: table.mustAsk, waiting: table.waiting, lookAgainAt: nextDeadline)
    }

    /// Runs the clocks of a class; a class that was served for its quantum starts afresh (rule A4).
    private mutating func countTime(_ elapsed: Int64, rank: Int, whileAside standAside: QoSClassSet) {
        switch table.records[rank].standing {
        case .idle: break
        case .covered:
            countWait(elapsed, rank: rank, whileAside: standAside)
            makeClaims(rank: rank)
        case .served:
            table.records[rank].served += elapsed
            if table.records[rank].served >= table.timings[rank].quantum { resetClocks(rank: rank) }
        }
    }

    /// Runs the clocks of a covered class against each higher one.
    ///
    /// While a higher class stands aside, no time counts: it does not keep the lower class off, nor leave it a core by
    /// itself. While the budget holds the lower class, it could not use a core that is left, so only the time counts in
    /// which there is none.
    private mutating func countWait(_ elapsed: Int64, rank: Int, whileAside standAside: QoSClassSet) {
        var running = 0
        var higher = 4
        while higher > rank {
            running += table.records[higher].running
            if running >= table.cores {
                table.records[rank].behind[higher].covered += elapsed
            } else if !table.records[rank].isHeld, !standAside.contains(QoSClassSet(rank: higher)) {
                table.records[rank].behind[higher].left += elapsed
                if table.records[rank].behind[higher].left >= table.timings[rank].quantum {
                    table.records[rank].behind[higher] = ClassAdmission.Behind()
                }
            }
            higher -= 1
        }
    }

    private mutating func resetClocks(rank: Int) {
        table.records[rank].behind = InlineArray(repeating: ClassAdmission.Behind())
        table.records[rank].served = 0
        table.records[rank].claims = []
    }

    private mutating func dropVoidClaims(rank: Int) {
        if !table.records[rank].hasWork {
            resetClocks(rank: rank)
        } else if table.records[rank].limit == 0 {
            table.records[rank].claims = []
        }
    }

    private mutating func makeClaims(rank: Int) {
        guard table.records[rank].standing == .covered, !table.records[rank].isHeld else { return }
        let before = table.records[rank].claims
        for higher in rank + 1..<5 where table.claimTime(of: rank, against: higher, at: now) <= now {
            table.records[rank].claims.insert(QoSClassSet(rank: higher))
        }
        if before.isEmpty, !table.records[rank].claims.isEmpty {
            counters.windows &+= 1
            table.records[rank].windows &+= 1
        }
    }

    private mutating func admitWaiting() -> QoSClassSet {
        var admitted = QoSClassSet()
        var above = 0
        for rank in stride(from: 4, through: 0, by: -1) {
            let running = table.records[rank].running
            if table.records[rank].isWaiting, table.admits(rank: rank, others: running, above: above) {
                table.records[rank].isWaiting = false
                table.records[rank].running += 1
                admitted.insert(QoSClassSet(rank: rank))
                counters.admissions &+= 1
            }
            above += table.records[rank].running
        }
        return admitted
    }

    private mutating func updateStandings() {
        var above = 0
        for rank in stride(from: 4, through: 0, by: -1) {
            let running = table.records[rank].running
            if !table.records[rank].hasWork || table.records[rank].limitOfOthers == 0 {
                table.records[rank].standing = .idle
            } else {
                table.records[rank].standing = running > 0 && above < table.cores ? .served : .covered
            }
            above += running
            table.records[rank].coveringSince = above < table.cores ? nil : table.records[rank].coveringSince ?? now
            table.records[rank].crowdedSince = above <= table.cores ? nil : table.records[rank].crowdedSince ?? now
        }
    }

    private var nextDeadline: SchedulerInstant? {
        var next = fences.nextHalf ?? SchedulerInstant(nanoseconds: .max)
        for rank in 0..<4 where !table.records.span[rank].isHeld {
            switch table.records.span[rank].standing {
            case .idle: break
            case .served where table.records.span[rank].claims.isEmpty: break
            case .served:
                let left = table.timings[rank].quantum - table.records.span[rank].served
                next = min(next, now.advanced(byNanoseconds: left))
            case .covered:
                let claims = table.records.span[rank].claims
                for higher in rank + 1..<5
                where table.records.span[higher].hasWork && !claims.contains(QoSClassSet(rank: higher)) {
                    next = min(next, table.claimTime(of: rank, against: higher, at: now))
                }
            }
        }
        return next.nanoseconds == .max ? nil : next
    }
}
