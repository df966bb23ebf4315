import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// What happens on the loop's thread: threads are started, timers fire; the end is in `SchedulerCore+Shutdown`.

extension SchedulerCore {
    /// How long the loop waits before it tries again to create a thread that the system refused. Nanoseconds.
    private static let startRetry: UInt64 = 50_000_000

    /// Runs the loop on the calling thread until the scheduler has ended.
    func runLoop() {
        do {
            try loop.run()
        } catch {
            shutdownRequests.withLock { $0.loopError = error }
        }
        sources.close()
        shutdownRequests.withLock { $0.end() }.resume()
    }

    /// The loop was woken, or its timer fired. The loop's thread.
    func loopWoke() {
        startRequestedWorkers()
        let nextTimer = advanceTimers()
        let nextPhase = advancePhase()
        let nextRescan = rescanIfDue()
        let nextWatch = watchIfDue()
        var nextAdmission = group.tickAdmission()
        group.admission.timerArmed(for: nextAdmission)
        // An event may have set an earlier time before it could see for when the timer is armed.
        if let time = group.admission.nextLook, time < nextAdmission ?? .max {
            nextAdmission = time
            group.admission.timerArmed(for: time)
        }
        group.alarm.set(
            for: [nextTimer, nextPhase, nextRescan, nextWatch, nextAdmission].compactMap { $0 }.min())
    }

    /// - Returns: when to look next; `nil` without timers, and once the scheduler is closed: who adds one then and does not
    ///   get it back must not have it forgotten.
    private func advanceTimers() -> UInt64? {
        guard !group.isClosed else {
            removeTimers()
            return nil
        }
        for rank in 0..<QoSClass.allCases.count {
            let due = unsafe group.pools[rank].timers?.takeDue(now: MonotonicClock.nanoseconds()) ?? []
            for payload in due { payload.fire() }
        }
        return timers.advance(now: MonotonicClock.nanoseconds, fire: { $0.fire() })
    }

    /// Gives every timer that has not fired to whom it goes at shutdown. The loop's thread.
    func removeTimers() {
        timers.removeAll(handOver)
        for rank in 0..<QoSClass.allCases.count { unsafe group.pools[rank].timers?.removeAll(handOver) }
    }

    /// Adds a timer for the calling task, which is suspended next, to those of its pool, if its idle workers wake up for such ones.
    ///
    /// - Returns: `false` where it is one for the loop.
    func addToPool(_ window: TimerWindow, _ payload: TimerService.Payload) -> Bool {
        guard window.tolerance <= PoolTimerKeeping.widestWindow, let worker = unsafe Worker.current,
            let timers = unsafe worker.pointee.pool.pointee.timers, unsafe worker.pointee.pool.pointee.group === group,
            unsafe worker.pointee.isFreedBySuspension
        else { return false }
        timers.add(window, payload)
        if group.closedFlag.load(ordering: .sequentiallyConsistent) { timers.removeAll(handOver) }
        return true
    }

    /// Adds a timer from any thread.
    func addTimer(_ window: TimerWindow, _ payload: TimerService.Payload) {
        if timers.add(window, payload) { loop.wake() }
        // As with jobs: whoever adds looks at the flag afterwards, whoever closes takes everything after setting it.
        if group.closedFlag.load(ordering: .sequentiallyConsistent) { timers.removeRequests(handOver) }
    }

    /// Cancels a timer. Any thread.
    ///
    /// - Returns: what it would have done; `nil` if it has fired or was cancelled.
    @discardableResult
    func cancelTimer(_ ticket: TimerTicket) -> TimerService.Payload? {
        let (payload, wakesLoop) = timers.cancel(ticket)
        if wakesLoop { loop.wake() }
        return payload
    }

    // MARK: Threads

    private func startRequestedWorkers() {
        for rank in 0..<QoSClass.allCases.count {
            let request = unsafe group.pools[rank].startRequest.exchange(0, ordering: .sequentiallyConsistent)
            guard request > 0 else { continue }
            group.workersLeft.wrappingAdd(1, ordering: .sequentiallyConsistent)
            joinRetired()
            // The thread that was in this place before is about to end.
            if onLoop.threads.contains(where: { $0.rank == rank && $0.index == request - 1 }) {
                startFailed(rank: rank, index: request - 1)
                continue
            }
            unsafe group.pools[rank].workers[request - 1].hasLeft.store(false, ordering: .relaxed)
            unsafe group.pools[rank].workers[request - 1].isOpen.store(true, ordering: .relaxed)
            do {
                onLoop.threads.append(try WorkerThread(core: self, rank: rank, index: request - 1))
                if unsafe request > group.pools[rank].width {
                    unsafe group.pools[rank].counters.standIns.wrappingAdd(1, ordering: .relaxed)
                }
            } catch {
                startFailed(rank: rank, index: request - 1)
            }
        }
    }

    /// A thread could not be created: the pool goes on with those that it has, and another attempt follows.
    private func startFailed(rank: Int, index: Int) {
        group.workersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        startFailures.wrappingAdd(1, ordering: .relaxed)
        group.observe(.threadStartFailed(QoSClass(atRank: rank)))
        unsafe group.pools[rank].update { word -> (PoolWord, Void)? in (word.startFailed(), ()) }
        // A look through the queues may have put something into that of the worker that was on its way; no thread looks there.
        var stranded = unsafe group.pools[rank].workers[index].close()
        while let node = stranded.popFirst() { unsafe group.pools[rank].injection.push(node) }
        unsafe group.pools[rank].forwardIfClosed()
        group.calls.workerParks()
        group.workerWentIdle(rank: rank)
        let retry = MonotonicClock.nanoseconds().addingSaturating(Self.startRetry)
        _ = timers.add(
            TimerWindow(deadline: retry, tolerance: Self.startRetry),
            .body { [unowned self] in
                if unsafe group.pools[rank].hasWork() { unsafe group.pools[rank].wakeOne() }
            })
    }
}
