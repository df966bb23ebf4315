// What every event does before and after its own change.

extension PickMachine {
    /// Brings clocks, fences and the starvation window to a time, before an event changes anything.
    mutating func passTime(to time: SchedulerInstant) {
        let elapsed = max(0, time.nanoseconds - now.nanoseconds)
        now = max(now, time)
        if elapsed > 0 { countTime(elapsed) }
        let halved = fences.halve(at: now)
        if halved > 0 {
            counters.fencesHalved &+= UInt64(halved)
            applyFences()
        }
        closeWindow()
        openWindow()
    }

    /// Admits whom the rules allow, and says what the driver has to do.
    ///
    /// One pass is enough: admission only adds workers, and a window that opens only takes places away.
    mutating func settle() -> AdmissionActions {
        closeWindow()
        let admitted = admitWaiting()
        updateStandings()
        openWindow()
        startQuantum()
        return AdmissionActions(admit: admitted, mustAsk: table.mustAsk, lookAgainAt: nextDeadline)
    }

    private mutating func countTime(_ elapsed: Int64) {
        for rank in 0..<5 {
            switch table.records[rank].standing {
            case .idle: break
            case .covered: table.records[rank].waited += elapsed
            case .served:
                table.records[rank].served += elapsed
                if table.records[rank].served >= table.timings[rank].quantum {
                    table.records[rank].served = 0
                    table.records[rank].waited = 0
                }
            }
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
            if !table.records[rank].hasWork {
                table.records[rank].standing = .idle
                table.records[rank].waited = 0
                table.records[rank].served = 0
            } else if table.limit(rank: rank) == 0 {
                table.records[rank].standing = .idle
            } else {
                table.records[rank].standing = running > 0 && above < table.cores ? .served : .covered
            }
            above += running
            if above <= table.cores {
                table.records[rank].crowdedSince = nil
            } else if table.records[rank].crowdedSince == nil {
                table.records[rank].crowdedSince = now
            }
        }
    }

    private mutating func closeWindow() {
        guard let starving = table.window.qosClass else { return }
        if case .open(_, let until) = table.window, until <= now {
            table.window = .closed
        } else if !table[starving].hasWork || table.limit(of: starving) == 0 {
            table.window = .closed
        }
    }

    private mutating func openWindow() {
        guard table.window == .closed else { return }
        var earliest = Int64.max
        for rank in stride(from: 3, through: 0, by: -1) {
            guard
                let qosClass = QoSClass(rank: rank), let opens = table.windowTime(of: qosClass, at: now), opens <= now
            else { continue }
            let slack = table.timings[rank].worstCaseWait - table.records[rank].waited
            guard slack < earliest else { continue }
            earliest = slack
            table.window = .wanted(qosClass)
        }
    }

    private mutating func startQuantum() {
        guard case .wanted(let starving) = table.window, table.runningAbove(rank: starving.rank) < table.cores else {
            return
        }
        counters.windows &+= 1
        table.window = .open(
            starving, until: now.advanced(byNanoseconds: table.timings[starving.rank].quantum))
    }

    private var nextDeadline: SchedulerInstant? {
        var next = fences.nextHalf ?? SchedulerInstant(nanoseconds: .max)
        switch table.window {
        case .open(_, let until): next = min(next, until)
        case .wanted: break
        case .closed:
            for rank in 0..<4 {
                guard let qosClass = QoSClass(rank: rank), let opens = table.windowTime(of: qosClass, at: now) else {
                    continue
                }
                next = min(next, opens)
            }
        }
        return next.nanoseconds == .max ? nil : next
    }
}
