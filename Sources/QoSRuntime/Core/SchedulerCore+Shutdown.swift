import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// The end of a scheduler, on the loop's thread (`Docs/Inside/Protocols/shutdown.md`).

extension SchedulerCore {
    /// Moves on to the next phase if its time has come, and performs its action.
    ///
    /// - Returns: the latest time of the next look.
    func advancePhase() -> UInt64? {
        if let deadline = shutdownRequests.withLock({ $0.takeRequest() }) {
            onLoop.phase.shutdownRequested(deadline: deadline)
            sources.endTimers()
            beginEnding()
        }
        guard onLoop.phase != .running else { return nil }
        let action = onLoop.phase.looked(
            at: MonotonicClock.nanoseconds(), isQuiet: isQuiet,
            workersLeft: group.workersLeft.load(ordering: .sequentiallyConsistent) - continuing().count)
        switch action {
        case .wait: return nil
        case .waitUntil(let time): return time
        case .close(let time):
            close()
            return time
        case .end:
            end()
            return nil
        }
    }

    /// Whether a shutdown waits for nothing more: no work is queued or held, and no worker is awake except those whose
    /// job said so.
    private var isQuiet: Bool {
        guard shutdownHolds.isEmpty else { return false }
        let before = continuing()
        guard group.calls.awake.load(ordering: .sequentiallyConsistent) <= before.count else { return false }
        guard (0..<QoSClass.allCases.count).allSatisfy({ !group.pools[$0].hasWork() }) else { return false }
        // A worker that has ended its job since then may have taken a node out of a queue before the look at that
        // queue.
        return continuing() == before
    }

    /// Returns the workers for which a shutdown does not wait, each with its step: those in a job that said so.
    private func continuing() -> [ContinuingWorker] {
        var found: [ContinuingWorker] = []
        for rank in 0..<QoSClass.allCases.count {
            for index in 0..<group.pools[rank].started {
                let worker = group.pools[rank].workers.at(index)
                let step = worker.value.jobSteps
                guard worker.value.isContinuing,
                    worker.value.standing != .atCheckpoint,
                    !worker.value.hasLeft
                else { continue }
                found.append(ContinuingWorker(rank: rank, index: index, step: step))
            }
        }
        return found
    }

    private struct ContinuingWorker: Equatable {
        let rank: Int
        let index: Int
        let step: UInt64
    }

    private func close() {
        group.closedFlag.store(true, ordering: .sequentiallyConsistent)
        for rank in 0..<QoSClass.allCases.count {
            // Also the work of a worker whose job does not end.
            group.pools[rank].forwardAll()
            let started = PoolWord(rawValue: group.pools[rank].word.load(ordering: .sequentiallyConsistent))
                .started
            for index in 0..<started {
                // The shutdown waits for this worker now, and in its class it may not get a processor in time.
                if !group.pools[rank].workers[index].isContinuing {
                    group.hurry(group.pools[rank].workers.at(index))
                }
                group.pools[rank].workers[index].parker.unpark()
            }
        }
        removeTimers()
        sleepers.wakeAll()
        loop.wake()
    }

    /// Lets the process's default executor continue a sleep that has not ended, or an item that has not been added.
    func forward(deadline: UInt64, _ payload: TimerService.Payload) {
        switch payload {
        case .ticket(let ticket): forward(deadline: deadline, ticket)
        case .entry(let entry) where entry.onShutdown == .skip:
            // The queue passes over the entry, and its waiters go on.
            entry.delayEnded()
        case .entry, .job, .sleep: _ = Self.sleep(until: deadline) { Self.goOn(payload) }
        case .body: break
        }
    }

    /// Forwards a ticket's payload in the same way. The ticket keeps it, so a cancellation releases it at once,
    /// however far the deadline.
    private func forward(deadline: UInt64, _ ticket: TimerTicket) {
        switch ticket.held {
        case .entry(let entry)? where entry.onShutdown != .skip:
            ticket.goesOn(with: Self.sleep(until: deadline) { if let payload = ticket.take() { Self.goOn(payload) } })
        default:
            if let payload = ticket.take() { forward(deadline: deadline, payload) }
        }
    }

    /// Starts a task that runs a body at a deadline.
    ///
    /// - Parameter deadline: monotonic nanoseconds.
    private static func sleep(until deadline: UInt64, then body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let now = MonotonicClock.nanoseconds()
        let left = Duration.nanoseconds(deadline > now ? Int64(clamping: deadline - now) : 0)
        return Task.detached {
            try? await Task.sleep(for: left)
            body()
        }
    }

    /// Continues a payload that was forwarded, when its deadline has passed.
    private static func goOn(_ payload: TimerService.Payload) {
        switch payload {
        case .job(let job, _): globalConcurrentExecutor.enqueue(job)
        case .sleep: payload.fire()
        case .entry(let entry): entry.delayEnded()
        case .body, .ticket: break
        }
    }

    private func end() {
        var (abandoned, continuing): ([String], [String]) = ([], [])
        for thread in onLoop.threads {
            if thread.hasLeft {
                do { try thread.join() } catch { abandoned.append(thread.name) }
            } else {
                if group.pools[thread.rank].workers[thread.index].isContinuing {
                    continuing.append(thread.name)
                } else {
                    abandoned.append(thread.name)
                }
                thread.abandon()
            }
        }
        onLoop.threads = []
        shutdownHolds.removeAll()
        shutdownRequests.withLock { [abandoned, continuing] in
            $0.abandonedWorkers = abandoned
            $0.continuingWorkers = continuing
        }
        loop.stop()
    }
}
