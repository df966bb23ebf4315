import QoSCore
import QoSKernel
import Synchronization

// Returns to the width: threads that stood in for blocked ones end.

extension SchedulerCore {
    /// Ends threads that stood in for blocked ones and have no more work. The loop's thread.
    func retireExtraWorkers() {
        for rank in 0..<QoSClass.allCases.count where unsafe group.pools[rank].started > group.pools[rank].limit {
            unsafe retireExtraWorkers(of: group.pools + rank)
        }
        joinRetired()
    }

    /// Joins the threads that were told to end and have ended. The loop's thread.
    func joinRetired() {
        onLoop.threads.removeAll { thread in
            guard unsafe group.pools[thread.rank].workers[thread.index].retires, thread.hasLeft else { return false }
            do { try thread.join() } catch { thread.abandon() }
            return true
        }
    }

    private func retireExtraWorkers(of pool: UnsafeMutablePointer<ClassPool>) {
        var parked: [Int] = []
        while let worker = unsafe pool.pointee.update({ word in
            word.parkedTaken { top in
                let link = unsafe pool.pointee.workers[top].nextParked.load(ordering: .relaxed)
                return link == 0 ? nil : link - 1
            }
        }) {
            parked.append(worker)
        }
        var kept: [Int] = []
        for index in parked.sorted(by: >) {
            let worker = unsafe pool.pointee.workers + index
            let limit = unsafe pool.pointee.limit
            guard unsafe worker.pointee.beginRetirement() else {
                kept.append(index)
                continue
            }
            let retired: Void? = unsafe pool.pointee.update { word in
                word.retired(index, limit: limit).map { ($0, ()) }
            }
            if retired == nil {
                unsafe worker.pointee.isOpen.store(true, ordering: .relaxed)
                kept.append(index)
            } else {
                unsafe worker.pointee.parker.unpark()
            }
        }
        // The lowest go on top: they are used first, and the others may go next time.
        for index in kept {
            unsafe pool.pointee.update { word -> (PoolWord, Void)? in
                unsafe pool.pointee.workers[index].nextParked.store(
                    word.parkedTop.map { $0 + 1 } ?? 0, ordering: .relaxed)
                return (word.workerParks(index, wasSearching: false), ())
            }
        }
        // A thread that added work meanwhile found no worker to wake.
        if unsafe pool.pointee.hasWork() { unsafe pool.pointee.wakeOne() }
    }
}
