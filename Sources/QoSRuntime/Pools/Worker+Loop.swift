import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

extension Worker {
    /// How long a worker may take no job from its queue before a thief takes its last node too. Nanoseconds.
    private static let lastNodeGrace: UInt64 = 5_000

    /// The life of a worker's thread: takes work, runs it, searches, parks, until the scheduler is closed.
    static func runLoop(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe cqos_set_current_worker(worker)
        unsafe worker.pointee.threadID.store(ThreadID.current.rawValue, ordering: .sequentiallyConsistent)
        unsafe ThreadTable.register(worker: worker)
        defer {
            ThreadTable.unregister()
            cqos_set_current_worker(nil)
        }
        let pool = unsafe worker.pointee.pool
        let core = unsafe pool.pointee.core
        let executors = unsafe core.executorTable
        let rank = unsafe pool.pointee.qosClass.rank
        let timers = unsafe pool.pointee.timers
        let index = unsafe worker.pointee.index
        // Whoever closed the scheduler has raised the threads that it knew.
        if core.isClosedForAll { unsafe core.hurry(worker) }
        var isSearching = true  // It was started for work, and counted.
        // Whether a job has ended, and may wait for something, since the worker looked for that last.
        var mayAwait = false

        while !core.isClosed {
            if core.admission.mustAsk(rank: rank), core.workerMustPark(rank: rank, worker: index) {
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
            } else if mayAwait, core.looksForAwaited(rank: rank) {
                mayAwait = false
                unsafe core.raiseAwaited(below: rank, by: worker.pointee.latestTask)
            } else if let node = unsafe search(worker, isSearching: &isSearching) {
                isSearching = false
                unsafe pool.pointee.searchSucceeded()
                timers?.workerRuns(index)
                unsafe run(node, worker, executors, rank)
                mayAwait = true
            } else if !core.isClosed {
                unsafe park(worker, wasSearching: isSearching, isCounted: true)
                if unsafe worker.pointee.retires { break }
                // Whoever unparks a worker has counted it as searching, except at shutdown, when it no longer matters.
                isSearching = true
            }
        }
        if unsafe worker.pointee.retires {
            unsafe core.workerRetires(worker)
        } else {
            unsafe core.workerExits(worker)
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
        // Also what says that the job has ended, before the look at `isBlocked`: whoever takes the worker for blocked looks afterwards.
        unsafe worker.pointee.running.retract()
        if unsafe worker.pointee.isBlocked { unsafe worker.pointee.pool.pointee.core.workerUnblocked(worker) }
        if unsafe worker.pointee.isBoosted.load(ordering: .relaxed) {
            unsafe worker.pointee.pool.pointee.core.endBoost(of: worker, qosClass: worker.pointee.pool.pointee.qosClass)
        }
    }

    /// The next node of the own queue or the injection queue.
    ///
    /// What has come in is taken in before each job: it stands behind what is queued already, and waits no longer than that. A
    /// look every so many jobs would keep it outside for as many windows of a class that starves.
    @inline(__always)
    private static func nextNode(_ worker: UnsafeMutablePointer<Worker>) -> JobNode? {
        unsafe takeInjected(worker)
        return unsafe worker.pointee.queue.pop()
    }

    /// Moves what others have submitted into the own queue, where the other workers can take from it.
    @inline(__always)
    private static func takeInjected(_ worker: UnsafeMutablePointer<Worker>) {
        let batch = unsafe worker.pointee.pool.pointee.injection.takeAll()
        if !batch.isEmpty { unsafe share(batch, from: worker) }
    }

    /// For a moment the nodes were in no queue, and a worker that was woken for them and parked again may have seen none.
    private static func share(_ batch: consuming NodeList, from worker: UnsafeMutablePointer<Worker>) {
        let isMoreThanOwn = batch.count > 1
        unsafe worker.pointee.queue.push(contentsOf: batch)
        guard isMoreThanOwn else { return }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        unsafe worker.pointee.pool.pointee.wakeOne()
    }

    /// Looks at the other workers' queues, for a while where spinning is allowed.
    private static func search(
        _ worker: UnsafeMutablePointer<Worker>, isSearching: inout Bool
    ) -> JobNode? {
        let pool = unsafe worker.pointee.pool
        if !isSearching {
            let joined: Void? = unsafe pool.pointee.update { word in word.searchWanted().map { ($0, ()) } }
            if joined == nil { return nil }
            isSearching = true
        }
        let limit = unsafe pool.pointee.core.hasIdleCore ? max(pool.pointee.spin, lastNodeGrace) : lastNodeGrace
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
            if unsafe pool.pointee.core.isClosed { return nil }
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

    /// Goes to sleep until somebody adds work: publishes that it sleeps, looks once more, sleeps
    /// (`Docs/Protocols/wake-park.md`).
    ///
    /// - Parameter isCounted: whether admission still counts the worker; not when it was told to park.
    static func park(_ worker: UnsafeMutablePointer<Worker>, wasSearching: Bool, isCounted: Bool) {
        let pool = unsafe worker.pointee.pool
        let index = unsafe worker.pointee.index
        unsafe worker.pointee.isIdle.store(true, ordering: .sequentiallyConsistent)
        if !isCounted { unsafe pool.pointee.relieve(index) }
        // Before somebody can wake it again.
        unsafe pool.pointee.core.unplaceWorker(rank: pool.pointee.qosClass.rank, index)
        unsafe pool.pointee.update { word -> (PoolWord, Void)? in
            unsafe worker.pointee.nextParked.store(word.parkedTop.map { $0 + 1 } ?? 0, ordering: .relaxed)
            return (word.workerParks(index, wasSearching: wasSearching), ())
        }
        if isCounted { unsafe pool.pointee.core.workerWentIdle(rank: pool.pointee.qosClass.rank) }
        unsafe pool.pointee.core.workerParks()
        if unsafe pool.pointee.hasWork() { unsafe pool.pointee.wakeOne() }
        unsafe sleep(worker)
        unsafe pool.pointee.core.placeWorker(rank: pool.pointee.qosClass.rank, index)
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
    /// A searching worker found work: when it was the last to search and there is more, another is woken.
    func searchSucceeded() {
        let wasLast = update { word in word.workFound() }
        if wasLast == true, hasWork() { wakeOne() }
    }
}
