import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

// A worker may wait within its job, at a checkpoint, until its class is admitted again
// (`Docs/Inside/Protocols/wake-park.md`).

extension Worker {
    /// Lets the job of the calling worker wait while its class has to stand aside.
    ///
    /// Does nothing in work for which other work may wait in order: an actor's call, a serial queue's item, promoted
    /// work.
    static func askAtCheckpoint(_ worker: WorkerRef) {
        let pool = worker.pool
        let group = pool.value.group
        let rank = pool.value.qosClass.rank
        guard !group.isClosed, group.mustAskMachine(rank: rank, waits: false), !holdsTurn, !isAfterClamp(worker)
        else { return }
        // The worker is promoted, or taken for blocked, under the same lock: each finds it counted, or waiting. Under
        // this lock no worker waits for admission's lock, because high threads take it.
        let asked: Admission.Asked? = worker.value.boost.withLock { raise in
            guard raise == .none, worker.value.standing == .counted else {
                return nil
            }
            let asked = group.admission.workerAsked(rank: rank, waits: false)
            if asked.answer != .goesOn { beginWaiting(worker) }
            return asked
        }
        let index = worker.index
        guard let asked, group.parks(asked, rank: rank, worker: index) else { return }
        group.places.sleeps(rank: rank, index)
        pool.value.relieve(index)
        group.workerParks()
        // The job itself is work that waits. It is published, so this look finds it; see "Why no wake-up is lost".
        pool.value.wakeOne()
        repeat {
            sleep(worker)
        } while worker.value.waitsSince.load(ordering: .sequentiallyConsistent) != 0
            && !resumesAsClosed(worker)
        group.places.wakes(rank: rank, index)
        // A promotion has counted the worker before it woke; since then the loop may have taken it for blocked.
        worker.value.boost.withLock { _ in _ = worker.value.change(.leavesCheckpoint) }
        // The admission was for any work of the class: the rest still needs a worker.
        if pool.value.hasWork() { pool.value.wakeOne() }
    }

    /// Whether the calling code has the turn of an actor, a lane or a serial queue.
    private static var holdsTurn: Bool {
        unsafe cqos_current_lane() != nil || ConcurrencyRuntime.isOnSerialExecutor || PoolEntry.isInSerialTurn
    }

    /// Whether a job of another class runs on a worker of background after the clamp (rule M3). The limits of
    /// background are not those of the job.
    static func isAfterClamp(_ worker: WorkerRef) -> Bool {
        let rank = worker.value.clampedRank.load(ordering: .relaxed)
        guard rank > worker.qosClass.rank else { return false }
        return worker.group.servingClass(for: QoSClass(atRank: rank)) > worker.qosClass
    }

    /// Begins the wait. With the lock of `boost` held.
    private static func beginWaiting(_ worker: WorkerRef) {
        worker.value.change(.waitsAtCheckpoint)
        worker.pool.value.waiting.wrappingAdd(1, ordering: .sequentiallyConsistent)
        worker.value.waitsSince.store(MonotonicClock.nanoseconds(), ordering: .sequentiallyConsistent)
    }

    /// Ends the wait if the scheduler is closed. A closed scheduler wakes all workers and counts none, so the worker
    /// counts itself.
    private static func resumesAsClosed(_ worker: WorkerRef) -> Bool {
        let group = worker.group
        guard group.closedFlag.load(ordering: .sequentiallyConsistent), endWaiting(worker) else { return false }
        _ = group.admission.workerUnblocked(rank: worker.qosClass.rank)
        group.workerWakes()
        return true
    }

    /// Ends the wait of a worker at its checkpoint.
    ///
    /// - Returns: whether the caller ended the wait. If so, the caller must have admission count the worker, and unpark
    ///   the worker.
    static func endWaiting(_ worker: WorkerRef) -> Bool {
        let since = worker.value.waitsSince.load(ordering: .sequentiallyConsistent)
        guard since != 0 else { return false }
        let (isEnded, _) = worker.value.waitsSince.compareExchange(
            expected: since, desired: 0, ordering: .sequentiallyConsistent)
        if isEnded { worker.pool.value.waiting.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        return isEnded
    }
}

extension ClassPool {
    /// Whether a worker waits at a checkpoint.
    @inline(__always)
    var hasWaiting: Bool { waiting.load(ordering: .sequentiallyConsistent) > 0 }

    /// Resumes the worker that has waited longest at a checkpoint, once the class has been admitted.
    ///
    /// - Returns: `false` when none waits.
    func resumeWaiting() -> Bool {
        while hasWaiting {
            var longest: (index: Int, since: UInt64)?
            for index in 0..<started {
                let since = workers[index].waitsSince.load(ordering: .sequentiallyConsistent)
                if since != 0, since < longest?.since ?? .max { longest = (index, since) }
            }
            // A worker that is about to publish its wait looks for itself afterwards.
            guard let longest else { return false }
            if Worker.endWaiting(workers.at(longest.index)) {
                group.workerWakes()
                workers[longest.index].parker.unpark()
                return true
            }
        }
        return false
    }
}

extension PoolGroup {
    /// Resumes the jobs of other classes that wait at a checkpoint on a worker of background, once a clamp is over
    /// (rule M3). Background may be stopped for long. The loop's thread.
    func resumeAfterClamp() {
        let pool = pools.at(QoSClass.background.rank)
        guard clamp.isOver, pool.value.hasWaiting else { return }
        for index in 0..<pool.value.started {
            let worker = pool.value.workers.at(index)
            guard worker.value.waitsSince.load(ordering: .sequentiallyConsistent) != 0 else { continue }
            // Under the lock, no later job of the worker begins to wait. If another thread has ended this wait, nothing
            // is left to do.
            let admitted: AdmittedWorkers? = worker.value.boost.withLock { _ in
                guard Worker.isAfterClamp(worker), Worker.endWaiting(worker) else { return nil }
                let admitted = admission.workerUnblocked(rank: worker.qosClass.rank)
                worker.value.change(.leavesCheckpoint)
                return admitted
            }
            guard let admitted else { continue }
            workerWakes()
            worker.value.parker.unpark()
            wake(admitted)
        }
    }
}
