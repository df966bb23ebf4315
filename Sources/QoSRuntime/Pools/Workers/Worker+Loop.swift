import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

extension Worker {
    /// The time without a job from its queue after which a worker loses its last node to a thief, too. Nanoseconds.
    private static let lastNodeGrace: UInt64 = 5_000

    /// Runs a worker's thread: takes work, runs it, searches, parks, until the scheduler is closed.
    static func runLoop(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe cqos_set_current_worker(worker)
        unsafe worker.pointee.threadID.store(ThreadID.current.rawValue, ordering: .sequentiallyConsistent)
        defer { cqos_set_current_worker(nil) }
        let pool = unsafe worker.pointee.pool
        let group = unsafe pool.pointee.group
        let executors = unsafe group.executorTable
        let rank = unsafe pool.pointee.qosClass.rank
        let timers = unsafe pool.pointee.timers
        let index = unsafe worker.pointee.index
        // The closing thread has raised the threads that it knew.
        if group.isClosedForAll { unsafe group.hurry(worker) }
        var isSearching = true  // It was started for work, and counted.
        // Whether a job has ended since the worker's last look for awaited work, and may wait for such work.
        var mayAwait = false

        while !group.isClosed {
            if group.admission.mustAsk(rank: rank), group.workerMustPark(rank: rank, worker: index) {
                unsafe park(worker, wasSearching: isSearching, isCounted: false)
                if unsafe worker.pointee.retires { break }
                isSearching = true
            } else if let node = unsafe nextNode(worker) {
                if isSearching {
                    isSearching = false
                    unsafe pool.pointee.searchSucceeded()
                }
                timers?.workerRuns(index)
                unsafe run(node, worker, executors, rank)
                mayAwait = true
            } else if mayAwait, group.looksForAwaited(rank: rank) {
                mayAwait = false
                unsafe group.raiseAwaited(below: rank, by: worker.pointee.latestTask)
            } else if let node = unsafe search(worker, isSearching: &isSearching) {
                isSearching = false
                unsafe pool.pointee.searchSucceeded()
                timers?.workerRuns(index)
                unsafe run(node, worker, executors, rank)
                mayAwait = true
            } else if !group.isClosed {
                unsafe park(worker, wasSearching: isSearching, isCounted: true)
                if unsafe worker.pointee.retires { break }
                // A thread that unparks a worker has counted it as searching, except at shutdown, when that no longer
                // matters.
                isSearching = true
            }
        }
        if unsafe worker.pointee.retires {
            unsafe group.workerRetires(worker)
        } else {
            unsafe group.workerExits(worker)
        }
    }

    @inline(__always)
    private static func run(
        _ node: JobNode, _ worker: UnsafeMutablePointer<Worker>,
        _ executors: UnsafeMutablePointer<UnownedTaskExecutor>, _ rank: Int
    ) {
        let tag = node.tag
        unsafe worker.pointee.jobSteps.store(
            worker.pointee.jobSteps.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        if !tag.isJob {
            unsafe node.runActivation(on: worker)
        } else {
            let job = node.job
            if tag.isContinuation {
                unsafe worker.pointee.resumedTask = ConcurrencyRuntime.yieldedTask(of: job)?.rawValue ?? 0
            } else if ConcurrencyRuntime.isTask(job) {
                unsafe worker.pointee.current = node
                node.noteRun(inPoolOf: rank)
            }
            if !tag.isPlainJob { unsafe begin(tag.shutdownBehavior, of: job, worker) }
            if rank < QoSClass.userInteractive.rank, ConcurrencyRuntime.isRetainableTask(job) {
                unsafe worker.pointee.running.publish(job)
            }
            unsafe job.runSynchronously(on: executors[tag.executor])
            if !tag.isPlainJob { unsafe worker.pointee.declared.store(0, ordering: .sequentiallyConsistent) }
        }
        unsafe worker.pointee.latestTask = worker.pointee.current?.address ?? 0
        unsafe worker.pointee.current = nil
        unsafe worker.pointee.resumedTask = 0
        unsafe worker.pointee.jobSteps.store(
            worker.pointee.jobSteps.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        // This also tells that the job has ended, before the look at `isBlocked`: a thread that takes the worker for
        // blocked looks afterwards.
        unsafe worker.pointee.running.retract()
        if unsafe worker.pointee.isBlocked { unsafe worker.pointee.pool.pointee.group.workerUnblocked(worker) }
        if unsafe worker.pointee.boost.isUp.load(ordering: .relaxed) {
            unsafe worker.pointee.pool.pointee.group.endBoost(
                of: worker, qosClass: worker.pointee.pool.pointee.qosClass)
        }
    }

    /// Returns the next node of the worker's own queue or the injection queue.
    ///
    /// The worker takes in new nodes before each job. They go behind the nodes that are already queued, and wait no
    /// longer than that. With a look only every so many jobs, a class that starves would leave them outside for as many
    /// windows.
    @inline(__always)
    private static func nextNode(_ worker: UnsafeMutablePointer<Worker>) -> JobNode? {
        unsafe takeInjected(worker)
        return unsafe worker.pointee.queue.pop()
    }

    /// Moves nodes that others have submitted into the own queue, where the other workers can take them.
    @inline(__always)
    private static func takeInjected(_ worker: UnsafeMutablePointer<Worker>) {
        let batch = unsafe worker.pointee.pool.pointee.injection.takeAll()
        if !batch.isEmpty { unsafe share(batch, from: worker) }
    }

    /// Shares a batch. For a moment the nodes were in no queue, and a worker that was woken for them and parked again
    /// may have seen none.
    private static func share(_ batch: consuming NodeList, from worker: UnsafeMutablePointer<Worker>) {
        let isMoreThanOwn = batch.count > 1
        unsafe worker.pointee.queue.push(contentsOf: batch)
        guard isMoreThanOwn else { return }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        unsafe worker.pointee.pool.pointee.wakeOne()
    }

    /// Looks at the other workers' queues, for a while if spinning is allowed.
    private static func search(
        _ worker: UnsafeMutablePointer<Worker>, isSearching: inout Bool
    ) -> JobNode? {
        let pool = unsafe worker.pointee.pool
        if !isSearching {
            let joined: Void? = unsafe pool.pointee.update { word in word.searchWanted().map { ($0, ()) } }
            if joined == nil { return nil }
            isSearching = true
        }
        let limit = unsafe pool.pointee.group.hasIdleCore ? max(pool.pointee.spin, lastNodeGrace) : lastNodeGrace
        var now = MonotonicClock.nanoseconds()
        let end = now &+ limit
        var (progress, unchangedSince) = unsafe (pool.pointee.progress, now)
        while true {
            let includingLast = now &- unchangedSince >= lastNodeGrace
            if let node = unsafe stealFromOthers(worker, includingLast: includingLast) { return node }
            if unsafe !pool.pointee.injection.isEmpty, let node = unsafe nextNode(worker) { return node }
            if now > end { return nil }
            for _ in 0..<32 { cqos_spin_hint() }
            now = MonotonicClock.nanoseconds()
            let latest = unsafe pool.pointee.progress
            if latest != progress { (progress, unchangedSince) = (latest, now) }
            if unsafe pool.pointee.group.isClosed { return nil }
        }
    }

    private static func stealFromOthers(
        _ worker: UnsafeMutablePointer<Worker>, includingLast: Bool
    ) -> JobNode? {
        let pool = unsafe worker.pointee.pool
        let started = unsafe pool.pointee.started
        let own = unsafe worker.pointee.index
        for offset in 1..<max(started, 1) {
            var taken = unsafe pool.pointee.workers[(own + offset) % started].queue.steal(includingLast: includingLast)
            guard !taken.isEmpty, let first = taken.popFirst() else { continue }
            unsafe worker.pointee.nodesStolen.store(
                worker.pointee.nodesStolen.load(ordering: .relaxed) &+ UInt64(taken.count + 1), ordering: .relaxed)
            if !taken.isEmpty { unsafe worker.pointee.queue.push(contentsOf: taken) }
            return first
        }
        return nil
    }

    /// Parks the worker until a thread adds work: publishes that the worker sleeps, looks once more, sleeps
    /// (`Docs/Protocols/wake-park.md`).
    ///
    /// - Parameter isCounted: whether admission still counts the worker. It does not if it told the worker to park.
    static func park(_ worker: UnsafeMutablePointer<Worker>, wasSearching: Bool, isCounted: Bool) {
        let pool = unsafe worker.pointee.pool
        let index = unsafe worker.pointee.index
        unsafe worker.pointee.isIdle.store(true, ordering: .sequentiallyConsistent)
        if !isCounted { unsafe pool.pointee.relieve(index) }
        // Before another thread can wake the worker again.
        unsafe pool.pointee.group.places.sleeps(rank: pool.pointee.qosClass.rank, index)
        unsafe pool.pointee.update { word -> (PoolWord, Void)? in
            unsafe worker.pointee.nextParked.store(word.parkedTop.map { $0 + 1 } ?? 0, ordering: .relaxed)
            return (word.workerParks(index, wasSearching: wasSearching), ())
        }
        if isCounted { unsafe pool.pointee.group.workerWentIdle(rank: pool.pointee.qosClass.rank) }
        unsafe pool.pointee.group.workerParks()
        if unsafe pool.pointee.hasWork() { unsafe pool.pointee.wakeOne() }
        unsafe sleep(worker)
        unsafe pool.pointee.group.places.wakes(rank: pool.pointee.qosClass.rank, index)
        unsafe worker.pointee.isIdle.store(false, ordering: .sequentiallyConsistent)
    }

    /// Sleeps until a thread unparks the worker. The worker's thread.
    static func sleep(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe worker.pointee.timesParked.store(
            worker.pointee.timesParked.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        if let timers = unsafe worker.pointee.pool.pointee.timers {
            unsafe timers.park(worker)
        } else {
            unsafe worker.pointee.parker.park()
        }
    }
}

extension ClassPool {
    /// Notes that a searching worker found work. If it was the last to search and there is more work, wakes another.
    func searchSucceeded() {
        let wasLast = update { word in word.workFound() }
        if wasLast == true, hasWork() { wakeOne() }
    }
}
