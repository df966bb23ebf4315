package import QoSCore
internal import QoSTesting

// The kernel model: strict preference of the higher workers, a small leak for the others.

extension AdmissionSimulation {
    /// Lets time pass: jobs advance with a core or with the leak.
    mutating func pass(to time: Int64) throws(SimulationViolation) {
        let elapsed = time - now
        guard elapsed > 0 else { return }
        record(until: time)
        var served = QoSClassSet()
        for index in workers.indices where workers[index].state == .inJob {
            if workers[index].hasCore {
                workers[index].remaining -= elapsed * world.leakDivisor
                served.insert(QoSClassSet(workers[index].home))
                results.coreTime[workers[index].home.rank] += elapsed
            } else {
                workers[index].remaining -= elapsed
            }
        }
        let leaving = classesThatLeaveACore
        for rank in 0..<5 {
            guard let qosClass = QoSClass(rank: rank) else { continue }
            let wantsCore = hasCurrentWork(qosClass) && allowedWidth(qosClass) > 0
            unserved[rank] = served.contains(qosClass) || !wantsCore ? 0 : unserved[rank] + elapsed
            leftBy[rank] = unserved[rank] == 0 ? [] : leftBy[rank].union(leaving)
            results.longestUnserved[rank] = max(results.longestUnserved[rank], unserved[rank])
        }
        now = time
    }

    /// The classes for which they and those above them run on fewer workers than there are cores.
    private var classesThatLeaveACore: QoSClassSet {
        var result = QoSClassSet()
        var running = 0
        for qosClass in QoSClass.descending {
            running += machine.table[qosClass].running
            if running < cores { result.insert(QoSClassSet(qosClass)) }
        }
        return result
    }

    private mutating func record(until time: Int64) {
        guard recorder != nil else { return }
        for qosClass in QoSClass.allCases {
            let running = workers.count { $0.home == qosClass && $0.hasCore }
            let mark =
                running > 0
                ? Timeline.digit(running) : hasCurrentWork(qosClass) ? Timeline.waiting : Timeline.nothing
            recorder?.note(row: TimelineRecorder.row(of: qosClass), mark: mark, from: now, to: time)
        }
    }

    /// Gives the cores to the highest workers that are in a job.
    mutating func assignCores() {
        var free = cores
        var inJob = 0
        for index in workers.indices {
            let runs = workers[index].state == .inJob
            if runs { inJob += 1 }
            workers[index].hasCore = runs && free > 0
            if workers[index].hasCore { free -= 1 }
        }
        results.mostWorkers = max(results.mostWorkers, inJob)
    }

    /// The number of workers that get a core.
    package var busyCores: Int { workers.count { $0.hasCore } }

    /// Whether jobs of a class wait in its queue or for a core. Blocked jobs do neither.
    package func hasCurrentWork(_ qosClass: QoSClass) -> Bool {
        !queues[qosClass.rank].isEmpty || workers.contains { $0.home == qosClass && $0.state == .inJob }
    }

    /// The width that the governor, the fences and the class's own width allow.
    func allowedWidth(_ qosClass: QoSClass) -> Int {
        machine.table[qosClass].limit
    }
}
