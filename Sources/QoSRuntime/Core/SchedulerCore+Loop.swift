import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// The work of the loop's thread: it starts threads and fires timers. `SchedulerCore+Shutdown` has the end.

extension SchedulerCore {
    /// The time before the loop tries again to create a thread that the system refused. Nanoseconds.
    private static let startRetry: UInt64 = 50_000_000

    /// Runs the loop on the calling thread until the scheduler has ended.
    func runLoop() {
        group.shown.set(DiagnosticsLayout.Slot.loopThread, UInt64(UInt32(bitPattern: ThreadID.current.rawValue)))
        do {
            try loop.run()
        } catch {
            shutdownRequests.withLock { $0.loopError = error }
        }
        sources.close()
        shutdownRequests.withLock { $0.end() }.resume()
    }

    /// Runs one turn of the loop after it was woken or its timer fired. The loop's thread.
    func loopWoke() {
        group.loopCounters.turns.wrappingAdd(1, ordering: .relaxed)
        startRequestedWorkers()
        let nextTimer = advanceTimers()
        let nextPhase = advancePhase()
        let nextRescan = rescanIfDue()
        let nextWatch = watchIfDue()
        var nextAdmission = group.tickAdmission()
        group.admission.timerArmed(for: nextAdmission)
        // An event may have set an earlier time before it could see the time for which the timer is armed.
        if let time = group.admission.nextLook, time < nextAdmission ?? .max {
            nextAdmission = time
            group.admission.timerArmed(for: time)
        }
        group.alarm.set(
            for: [nextTimer, nextPhase, nextRescan, nextWatch, nextAdmission].compactMap { $0 }.min())
    }

    /// Fires the due timers.
    ///
    /// - Returns: the time of the next look; `nil` without timers, and once the scheduler is closed. After that, a
    ///   thread may add a timer and not take it back in time. The loop must not forget that timer.
    private func advanceTimers() -> UInt64? {
        guard !group.isClosed else {
            removeTimers()
            return nil
        }
        for rank in 0..<QoSClass.allCases.count {
            let due = group.pools[rank].timers?.takeDue(now: MonotonicClock.nanoseconds()) ?? []
            for payload in due { payload.fire() }
        }
        return timers.advance(
            now: MonotonicClock.nanoseconds, suspended: SuspendedTime.nanoseconds(), fire: { $0.fire() })
    }

    /// Forwards every timer that has not fired, at shutdown. The loop's thread.
    func removeTimers() {
        timers.removeAll(suspended: SuspendedTime.nanoseconds(), forward)
        for rank in 0..<QoSClass.allCases.count { group.pools[rank].timers?.removeAll(forward) }
    }

    /// Adds a timer to the pool of the calling task, which is suspended next, if the pool's idle workers wake up for
    /// such timers.
    ///
    /// - Returns: `false` if the timer is one for the loop.
    func addToPool(_ window: TimerWindow, _ payload: TimerService.Payload) -> Bool {
        guard window.tolerance <= PoolTimerKeeping.widestWindow, let worker = Worker.current,
            let timers = worker.pool.value.timers, worker.group === group,
            worker.value.isFreedBySuspension
        else { return false }
        timers.add(window, payload)
        if group.closedFlag.load(ordering: .sequentiallyConsistent) { timers.removeAll(forward) }
        return true
    }

    /// Adds a timer from any thread.
    ///
    /// - Parameter isContinuous: whether the timer counts the time in which the machine is suspended.
    func addTimer(_ window: TimerWindow, _ payload: TimerService.Payload, isContinuous: Bool = false) {
        let suspended = isContinuous ? SuspendedTime.nanoseconds() : nil
        if timers.add(window, payload, suspended: suspended) { loop.wake() }
        // As with jobs: a thread that adds a timer looks at the flag afterwards, and the loop sets the flag before it
        // takes all timers.
        if group.closedFlag.load(ordering: .sequentiallyConsistent) { timers.removeRequests(forward) }
    }

    /// Cancels a timer. Any thread.
    ///
    /// - Returns: the payload of the timer; `nil` if it has fired or was cancelled.
    @discardableResult
    func cancelTimer(_ ticket: TimerTicket) -> TimerService.Payload? {
        let (payload, wakesLoop) = timers.cancel(ticket)
        if wakesLoop { loop.wake() }
        return payload
    }

    // MARK: Threads

    private func startRequestedWorkers() {
        for rank in 0..<QoSClass.allCases.count {
            let request = group.pools[rank].startRequest.exchange(0, ordering: .sequentiallyConsistent)
            guard request > 0 else { continue }
            group.workersLeft.wrappingAdd(1, ordering: .sequentiallyConsistent)
            joinRetired()
            // The previous thread in this place is about to end.
            if onLoop.threads.contains(where: { $0.rank == rank && $0.index == request - 1 }) {
                startFailed(rank: rank, index: request - 1, refusal: nil)
                continue
            }
            group.pools[rank].workers[request - 1].change(.starts)
            group.pools[rank].counters.noteLine(request - 1)
            do {
                onLoop.threads.append(try WorkerThread(core: self, rank: rank, index: request - 1))
                group.threadless.remove(rank: rank)
                if request > JobNode.Place.workers { group.reached(.promotableWorkers) }
                if request > group.pools[rank].width {
                    group.pools[rank].counters.standIns.value.wrappingAdd(1, ordering: .relaxed)
                }
            } catch {
                startFailed(rank: rank, index: request - 1, refusal: error)
            }
        }
    }

    /// Notes that a thread could not be created. The pool goes on with the threads that it has, and another attempt
    /// follows. Without any thread, the workers of another class do its work meanwhile.
    ///
    /// - Parameter refusal: the system's refusal; `nil` if the previous thread in this place has not ended yet.
    private func startFailed(rank: Int, index: Int, refusal: KernelError?) {
        group.workersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        startFailures.wrappingAdd(1, ordering: .relaxed)
        group.observe(.threadStartFailed(QoSClass(atRank: rank)))
        group.pools[rank].update { word -> (PoolWord, Void)? in (word.startFailed(), ()) }
        // A look through the queues may have put nodes into the queue of the worker that was to start; no thread looks
        // there.
        var stranded = group.pools[rank].workers[index].closeUnstarted()
        while let node = stranded.popFirst() { group.pools[rank].injection.push(node) }
        group.pools[rank].forwardIfClosed()
        group.calls.workerParks()
        group.workerWentIdle(rank: rank)
        if let refusal { threadRefused(rank: rank, refusal) }
        let retry = MonotonicClock.nanoseconds().addingSaturating(Self.startRetry)
        _ = timers.add(
            TimerWindow(deadline: retry, tolerance: Self.startRetry),
            .body { [unowned self] in
                if group.pools[rank].hasWork() { group.pools[rank].wakeOne() }
            })
    }

    /// Says once for each class that the system refuses it a thread, and has its work done by others if it has none.
    private func threadRefused(rank: Int, _ refusal: KernelError) {
        let hasNone = group.pools[rank].started == 0
        if hasNone { group.threadless.insert(rank: rank) }
        if onLoop.refusedClasses.insert(rank).inserted {
            group.reached(.threads)
            let serving = group.servingClass(for: QoSClass(atRank: rank)).rank
            let others =
                serving == rank ? "its work waits for one" : "workers of other classes do its work"
            let work = hasNone ? others : "its other workers do its work"
            let limit = ProcessSchedulingReader.exhaustedGroupLimit().map { " \($0.source) is \($0.value)." } ?? ""
            StandardError.write(
                "warning: QoSRuntime gets no thread for the class \(QoSClass(atRank: rank)), and \(work): "
                    + "\(refusal)\(limit)")
        }
        if hasNone { group.lendWork(ofThreadless: rank) }
    }
}
