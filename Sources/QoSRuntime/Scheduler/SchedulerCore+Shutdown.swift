import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// The end of a scheduler, on the loop's thread (`Docs/Protocols/shutdown.md`).

extension SchedulerCore {
    /// Moves the phase on and does what it says.
    ///
    /// - Returns: when to look again at the latest.
    func advancePhase() -> UInt64? {
        if let deadline = shutdownRequests.withLock({ $0.takeRequest() }) {
            phase.shutdownRequested(deadline: deadline)
            sources.endTimers()
            beginEnding()
        }
        guard phase != .running else { return nil }
        let action = phase.looked(
            at: MonotonicClock.nanoseconds(), isQuiet: isQuiet,
            workersLeft: workersLeft.load(ordering: .sequentiallyConsistent) - continuing().count)
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

    /// Nothing has to be waited for: no worker is awake but those whose job said so, nothing is queued, nothing is held.
    private var isQuiet: Bool {
        guard shutdownHolds.isEmpty else { return false }
        let before = continuing()
        guard awake.load(ordering: .sequentiallyConsistent) <= before.count else { return false }
        guard (0..<QoSClass.allCases.count).allSatisfy({ unsafe !pools[$0].hasWork() }) else { return false }
        // One that has come to its job's end since may have taken something out of a queue before that was looked at.
        return continuing() == before
    }

    /// The workers that a shutdown does not wait for, each with its step: those in a job that said so.
    private func continuing() -> [ContinuingWorker] {
        var found: [ContinuingWorker] = []
        for rank in 0..<QoSClass.allCases.count {
            for index in unsafe 0..<pools[rank].started {
                let worker = unsafe pools[rank].workers + index
                let step = unsafe worker.pointee.jobSteps.load(ordering: .sequentiallyConsistent)
                guard unsafe worker.pointee.isContinuing,
                    unsafe worker.pointee.standing.load(ordering: .sequentiallyConsistent) != .atCheckpoint,
                    unsafe !worker.pointee.hasLeft.load(ordering: .sequentiallyConsistent)
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
        closedFlag.store(true, ordering: .sequentiallyConsistent)
        for rank in 0..<QoSClass.allCases.count {
            unsafe forward(pools[rank].injection.takeAll())
            let started = unsafe PoolWord(rawValue: pools[rank].word.load(ordering: .sequentiallyConsistent)).started
            for index in 0..<started {
                // A worker whose job does not end would keep what it has queued.
                unsafe forward(pools[rank].workers[index].queue.takeAll())
                // Somebody waits for it now, and at the bottom it may not get a processor in time.
                if unsafe !pools[rank].workers[index].isContinuing { unsafe hurry(pools[rank].workers + index) }
                unsafe pools[rank].workers[index].parker.unpark()
            }
        }
        removeTimers()
        sleepers.wakeAll()
        loop.wake()
    }

    /// A sleep that has not ended, and an item that has not been added, goes on with the process's default executor.
    func handOver(deadline: UInt64, _ payload: TimerService.Payload) {
        switch payload {
        case .ticket(let ticket): handOver(deadline: deadline, ticket)
        case .entry(let entry) where entry.onShutdown == .skip:
            // It is passed over there, and whoever waits for it goes on.
            entry.queue.add(entry)
        case .entry, .job: _ = Self.sleep(until: deadline) { Self.goOn(payload) }
        case .body: break
        }
    }

    /// As above. The ticket still holds it, so that a cancellation releases it at once, however far the deadline.
    private func handOver(deadline: UInt64, _ ticket: TimerTicket) {
        switch ticket.held {
        case .entry(let entry)? where entry.onShutdown != .skip:
            ticket.goesOn(with: Self.sleep(until: deadline) { if let payload = ticket.take() { Self.goOn(payload) } })
        default:
            if let payload = ticket.take() { handOver(deadline: deadline, payload) }
        }
    }

    /// - Parameter deadline: monotonic nanoseconds.
    private static func sleep(until deadline: UInt64, then body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let now = MonotonicClock.nanoseconds()
        let left = Duration.nanoseconds(deadline > now ? Int64(clamping: deadline - now) : 0)
        return Task.detached {
            try? await Task.sleep(for: left)
            body()
        }
    }

    /// The deadline of what was handed over has passed.
    private static func goOn(_ payload: TimerService.Payload) {
        switch payload {
        case .job(let job, _): globalConcurrentExecutor.enqueue(job)
        case .entry(let entry): entry.queue.add(entry)
        case .body, .ticket: break
        }
    }

    private func end() {
        var (abandoned, continuing): ([String], [String]) = ([], [])
        for thread in threads {
            if thread.hasLeft {
                do { try thread.join() } catch { abandoned.append(thread.name) }
            } else {
                if unsafe pools[thread.rank].workers[thread.index].isContinuing {
                    continuing.append(thread.name)
                } else {
                    abandoned.append(thread.name)
                }
                thread.abandon()
            }
        }
        threads = []
        shutdownHolds.removeAll()
        shutdownRequests.withLock { [abandoned, continuing] in
            $0.abandonedWorkers = abandoned
            $0.continuingWorkers = continuing
        }
        loop.stop()
    }
}
