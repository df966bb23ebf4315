internal import QoSCore

// What must hold after every event, judged from the workers, queues and cores of the simulation.

extension AdmissionSimulation {
    /// Checks that no wake-up is lost, that cores do not idle beside work, and that waits are bounded.
    func checkInvariants() throws(SimulationViolation) {
        let idleCores = cores - workers.count { !$0.isBlocked }
        for qosClass in QoSClass.allCases {
            let rank = qosClass.rank
            let counted = workers.count { $0.counted == qosClass && !$0.isBlocked }
            guard counted == machine.table[qosClass].running else {
                throw violation(
                    "\(qosClass) has \(counted) workers, the machine counts \(machine.table[qosClass].running)")
            }
            let wantsWorker = !queues[rank].isEmpty && !isWaking(qosClass) && counted < allowedWidth(qosClass)
            if wantsWorker, !machine.table.standsAside(qosClass) {
                if counted == 0 { throw violation("\(qosClass) has work and no worker (A2)") }
                if idleCores > 0 { throw violation("a core is idle beside waiting work of \(qosClass)") }
            }
            if unserved[rank] > longestWait(qosClass) + slack {
                throw violation("\(qosClass) had no core for \(unserved[rank]) ns, allowed \(longestWait(qosClass))")
            }
        }
    }

    /// Checks that a worker takes a job within the limits of its class, and outside of a window of a lower one.
    func checkTake(_ qosClass: QoSClass) throws(SimulationViolation) {
        // The worker itself is not in the list while it looks for a job.
        let counted = workers.count { $0.counted == qosClass && !$0.isBlocked } + 1
        let above = workers.count { $0.counted > qosClass && !$0.isBlocked }
        guard counted <= allowedWidth(qosClass) else {
            throw violation("\(qosClass) takes a job with \(counted) workers, allowed \(allowedWidth(qosClass))")
        }
        if machine.table.standsAside(qosClass), above + counted >= cores {
            throw violation("\(qosClass) takes the core that is left to a lower class")
        }
        guard counted > 1, above + counted > cores, let since = machine.table[qosClass].crowdedSince else { return }
        guard now - since.nanoseconds < parameters.crowdingGrace.schedulerNanoseconds else {
            throw violation("\(qosClass) takes a job beyond the width of \(cores) after the grace (A5)")
        }
    }

    /// The longest time for which a class may have no core. The sum has four parts: its wait, the warp of the class in
    /// its way, the windows of the others, and one job of each worker above it or in its way. For each higher class
    /// that has left a core meanwhile, its wait counts once more: a claim against that class needs a whole wait without
    /// a free core.
    private func longestWait(_ qosClass: QoSClass) -> Int64 {
        var bound = parameters[qosClass].worstCaseWait.schedulerNanoseconds + 2 * world.wakeDelay
        var warp: Int64 = 0
        for other in QoSClass.allCases where other != qosClass {
            if other > qosClass { warp = max(warp, parameters[other].warp.schedulerNanoseconds) }
            if other > qosClass, leftBy[qosClass.rank].contains(other) {
                bound += parameters[qosClass].worstCaseWait.schedulerNanoseconds
            }
            if other != .userInteractive { bound += parameters[other].quantum.schedulerNanoseconds }
        }
        return bound + warp + Int64(results.mostWorkers + 4) * (results.longestJob.max() ?? 0)
    }
}
