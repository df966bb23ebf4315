import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

extension Worker {
    /// The time without a job from its queue after which a worker loses its last node to a thief, too. Nanoseconds.
    private static let lastNodeGrace: UInt64 = 5_000

    /// The time for which a worker without work leaves the other workers' queues alone. Nanoseconds. Their owners have
    /// run short jobs by then. To move such a job between processors costs more than to run it.
    private static let stealDelay: UInt64 = 5_000

    /// Runs a worker's thread: takes work, runs it, searches, parks, until the scheduler is closed.
    static func runLoop(_ worker: WorkerRef) {
        Worker.setCurrent(worker)
        worker.value.threadID.store(ThreadID.current.rawValue, ordering: .sequentiallyConsistent)
        worker.value.line.thread(ThreadID.current.rawValue)
        defer { Worker.setCurrent(nil) }
        let pool = worker.pool
        let group = pool.value.group
        let executors = unsafe group.executorTable
        let rank = pool.value.qosClass.rank
        let timers = pool.value.timers
        let index = worker.index
        // The closing thread has raised the threads that it knew.
        if group.isClosedForAll { group.hurry(worker) }
        var isSearching = true  // It was started for work, and counted.
        // Whether a job has ended since the worker's last look for awaited work, and may wait for such work.
        var mayAwait = false

        while !group.isClosed {
            if group.admission.mustAsk(rank: rank), group.workerMustPark(rank: rank, worker: index) {
                park(worker, wasSearching: isSearching, isCounted: false)
                if worker.value.retires { break }
                isSearching = true
            } else if let node = nextNode(worker) {
                if isSearching {
                    isSearching = false
                    pool.value.searchSucceeded()
                }
                timers?.workerRuns(index)
                let hasEnded = unsafe run(node, worker, executors, rank)
                // While no work waits, the look costs little, and the loop's would come late.
                if !hasEnded || !group.calls.backlog.isMade { mayAwait = true }
            } else if mayAwait, group.looksForAwaited(rank: rank) {
                mayAwait = false
                group.raiseAwaited(below: rank, by: worker.value.latestTask)
            } else if let node = search(worker, isSearching: &isSearching) {
                isSearching = false
                pool.value.searchSucceeded()
                timers?.workerRuns(index)
                let hasEnded = unsafe run(node, worker, executors, rank)
                // While no work waits, the look costs little, and the loop's would come late.
                if !hasEnded || !group.calls.backlog.isMade { mayAwait = true }
            } else if !group.isClosed {
                park(worker, wasSearching: isSearching, isCounted: true)
                if worker.value.retires { break }
                // A thread that unparks a worker has counted it as searching, except at shutdown, when that no longer
                // matters.
                isSearching = true
            }
        }
        if worker.value.retires {
            group.workerRetires(worker)
        } else {
            group.workerExits(worker)
        }
    }

    /// Runs a node, or submits a child task to a higher class that needs it.
    ///
    /// - Returns: whether no task waits for anything since: a task has come to its end, or the node went to another class.
    @inline(__always)
    private static func run(
        _ node: JobNode, _ worker: WorkerRef,
        _ executors: UnsafeMutablePointer<UnownedTaskExecutor>, _ rank: Int
    ) -> Bool {
        let tag = node.tag
        let mayHideRaise = tag.isJob && ConcurrencyRuntime.mayHideRaise(node.job, above: worker.qosClass)
        let root = mayHideRaise ? ConcurrencyRuntime.root(ofChild: node.job) : nil
        if root != nil, moveIfRaised(node, worker, rank) { return true }
        // Under a clamp, background's workers run the work of every class.
        let ownRank = rank == QoSClass.background.rank ? noteOwnClass(of: node, worker) : rank
        let step: UInt64
        if !tag.isJob {
            step = worker.value.line.begins(tag.isLane ? DiagnosticsLayout.Line.actor : DiagnosticsLayout.Line.item)
            worker.value.runsEntry = !tag.isLane
            node.runActivation(on: worker)
            worker.value.runsEntry = false
        } else {
            step = worker.value.line.begins(DiagnosticsLayout.Line.task)
            let job = node.job
            if tag.isContinuation {
                worker.value.resumedTask = ConcurrencyRuntime.yieldedTask(of: job)?.rawValue ?? 0
            } else if ConcurrencyRuntime.isTask(job) {
                worker.value.current = node
                if ConcurrencyRuntime.hasName(job) { worker.value.noteName(of: job) }
                node.noteRun(inPoolOf: ownRank)
            }
            if !tag.isPlainJob { begin(tag.shutdownBehavior, of: job, worker) }
            if ConcurrencyRuntime.isRetainableTask(job) { worker.value.running.publish(job, root: root) }
            unsafe job.runSynchronously(on: executors[tag.executor])
            if !tag.isPlainJob { worker.value.declared.store(0, ordering: .sequentiallyConsistent) }
        }
        worker.value.latestTask = worker.value.current?.address ?? 0
        worker.value.current = nil
        worker.value.resumedTask = 0
        worker.value.line.ends(step)
        let hasEnded = worker.value.running.hasEnded
        // This also tells that the job has ended, before the look at `isBlocked`: a thread that takes the worker for
        // blocked looks afterwards.
        worker.value.running.retract()
        if worker.value.isBlocked { worker.group.workerUnblocked(worker) }
        if worker.value.boost.isUp.load(ordering: .relaxed) {
            worker.group.endBoost(of: worker, qosClass: worker.qosClass)
        }
        return hasEnded
    }

    /// Notes the class of a node that a worker of background is about to run.
    ///
    /// - Returns: the rank of that class; that of background if the scheduler was never clamped.
    @inline(__always)
    private static func noteOwnClass(of node: JobNode, _ worker: WorkerRef) -> Int {
        guard worker.group.clamp.wasOn else { return QoSClass.background.rank }
        let rank = node.ownClass.rank
        worker.value.clampedRank.store(rank, ordering: .relaxed)
        return rank
    }

    /// Submits a child task, which the worker was about to run, to a higher class that needs it and of which the task's
    /// record does not tell.
    @inline(never)
    private static func moveIfRaised(_ node: JobNode, _ worker: WorkerRef, _ rank: Int) -> Bool {
        guard let needed = worker.pool.value.raisedWithoutRecord(node) else { return false }
        worker.group.moveRaised(node, from: rank, to: needed)
        return true
    }

    /// Returns the next node of the worker's own queue or the injection queue.
    ///
    /// The worker takes in new nodes before each job. They go behind the nodes that are already queued, and wait no
    /// longer than that. With a look only every so many jobs, a class that starves would leave them outside for as many
    /// windows.
    @inline(__always)
    private static func nextNode(_ worker: WorkerRef) -> JobNode? {
        takeInjected(worker)
        return worker.value.queue.pop()
    }

    /// Moves nodes that others have submitted into the own queue, where the other workers can take them.
    @inline(__always)
    private static func takeInjected(_ worker: WorkerRef) {
        let batch = worker.pool.value.injection.takeAll()
        if !batch.isEmpty { share(batch, from: worker) }
    }

    /// Shares a batch. For a moment the nodes were in no queue, and a worker that was woken for them and parked again
    /// may have seen none.
    private static func share(_ batch: consuming NodeList, from worker: WorkerRef) {
        let isMoreThanOwn = batch.count > 1
        worker.value.queue.push(contentsOf: batch)
        guard isMoreThanOwn else { return }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        worker.pool.value.wakeOne()
    }

    /// Looks for work, for a while if spinning is allowed; at the other workers' queues only after ``stealDelay``.
    private static func search(
        _ worker: WorkerRef, isSearching: inout Bool
    ) -> JobNode? {
        let pool = worker.pool
        if !isSearching {
            let joined: Void? = pool.value.update { word in word.searchWanted().map { ($0, ()) } }
            if joined == nil { return nil }
            isSearching = true
        }
        // Never shorter than the delay: each search looks at the others' queues once.
        let limit = pool.value.group.hasIdleCore ? max(pool.value.spin, stealDelay) : stealDelay
        let begin = MonotonicClock.nanoseconds()
        var now = begin
        let end = begin &+ limit
        var (progress, unchangedSince) = (pool.value.progress, begin)
        while true {
            let includingLast = now &- unchangedSince >= lastNodeGrace
            if now &- begin >= stealDelay, let node = stealFromOthers(worker, includingLast: includingLast) {
                return node
            }
            if !pool.value.injection.isEmpty, let node = nextNode(worker) { return node }
            if now > end { return nil }
            for _ in 0..<32 { cqos_spin_hint() }
            now = MonotonicClock.nanoseconds()
            let latest = pool.value.progress
            if latest != progress { (progress, unchangedSince) = (latest, now) }
            if pool.value.group.isClosed { return nil }
        }
    }

    private static func stealFromOthers(
        _ worker: WorkerRef, includingLast: Bool
    ) -> JobNode? {
        let pool = worker.pool
        let started = pool.value.started
        let own = worker.index
        for offset in 1..<max(started, 1) {
            var taken = pool.value.workers[(own + offset) % started].queue.steal(includingLast: includingLast)
            guard !taken.isEmpty, let first = taken.popFirst() else { continue }
            worker.value.nodesStolen.value.store(
                worker.value.nodesStolen.value.load(ordering: .relaxed) &+ UInt64(taken.count + 1), ordering: .relaxed)
            if !taken.isEmpty { worker.value.queue.push(contentsOf: taken) }
            return first
        }
        return nil
    }

    /// Parks the worker until a thread adds work: publishes that the worker sleeps, looks once more, sleeps
    /// (`Docs/Inside/Protocols/wake-park.md`).
    ///
    /// - Parameter isCounted: whether admission still counts the worker. It does not if it told the worker to park.
    static func park(_ worker: WorkerRef, wasSearching: Bool, isCounted: Bool) {
        let pool = worker.pool
        let index = worker.index
        // The loop may just have taken the worker for blocked, in a job that has ended. It takes that back under a
        // lock.
        while !worker.value.change(.parks) { pool.value.group.workerUnblocked(worker) }
        if !isCounted { pool.value.relieve(index) }
        // Before another thread can wake the worker again.
        pool.value.group.places.sleeps(rank: pool.value.qosClass.rank, index)
        pool.value.pushParked(index, wasSearching: wasSearching)
        if isCounted { pool.value.group.workerWentIdle(rank: pool.value.qosClass.rank) }
        pool.value.group.workerParks()
        if pool.value.hasWork() { pool.value.wakeOne() }
        sleep(worker)
        if worker.value.isOnItsWay.exchange(false, ordering: .relaxed) { pool.value.wakeWatch.began() }
        pool.value.group.places.wakes(rank: pool.value.qosClass.rank, index)
        worker.value.change(.wakes)
    }

    /// Sleeps until a thread unparks the worker. The worker's thread.
    static func sleep(_ worker: WorkerRef) {
        let parked = worker.value.timesParked
        parked.value.store(parked.value.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        if let timers = worker.pool.value.timers {
            timers.park(worker)
        } else {
            worker.value.parker.park()
        }
    }
}
