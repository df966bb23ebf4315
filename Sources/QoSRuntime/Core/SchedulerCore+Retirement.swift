import QoSCore
import QoSKernel
import Synchronization

// Returns to the width: threads that stood in for blocked ones end.

extension SchedulerCore {
    /// Ends threads that stood in for blocked ones and have no more work. The loop's thread.
    func retireExtraWorkers() {
        for rank in 0..<QoSClass.allCases.count where group.pools[rank].started > group.pools[rank].limit {
            retireExtraWorkers(of: group.pools.at(rank))
        }
        joinRetired()
    }

    /// Joins the threads that have ended. The loop's thread.
    func joinRetired() {
        onLoop.threads.removeAll { thread in
            guard thread.hasLeft else { return false }
            do { try thread.join() } catch { thread.abandon() }
            return true
        }
    }

    private func retireExtraWorkers(of pool: PoolRef) {
        var parked: [Int] = []
        while let worker = pool.value.update({ word in
            word.parkedTaken { pool.value.nextParked($0) }
        }) {
            parked.append(worker)
        }
        var kept: [Int] = []
        for index in parked.sorted(by: >) {
            let worker = pool.value.workers.at(index)
            let limit = pool.value.limit
            guard worker.value.beginRetirement() else {
                kept.append(index)
                continue
            }
            let retired: Void? = pool.value.update { word in
                word.retired(index, limit: limit).map { ($0, ()) }
            }
            if retired == nil {
                worker.value.change(.staysOn)
                kept.append(index)
            } else {
                worker.value.parker.unpark()
            }
        }
        // The lowest go on top: they are used first, and the others may go next time.
        for index in kept { pool.value.pushParked(index, wasSearching: false) }
        // A thread that added work meanwhile found no worker to wake.
        if pool.value.hasWork() { pool.value.wakeOne() }
    }
}
