internal import QoSCore
internal import QoSKernel

/// A bell that one task waits for, until it rings or a time comes.
///
/// Threading: any thread rings; one task waits.
final class Alarm: Sendable {
    private struct State {
        var rings = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())
    private let clock: any WorkloadClock
    private let scheduler: any WorkloadScheduler
    private let qosClass: QoSClass

    init(_ clock: any WorkloadClock, _ scheduler: any WorkloadScheduler, at qosClass: QoSClass) {
        self.clock = clock
        self.scheduler = scheduler
        self.qosClass = qosClass
    }

    /// Ends the wait that goes on, or the next one.
    func ring() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state.waiter = nil }
            state.rings = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Suspends until the bell rings or the monotonic clock reaches a time; `nil` waits for the bell alone.
    func wait(until time: Duration?, tolerance: Duration = .zero) async {
        let hasRung = state.withLock { state in
            defer { state.rings = false }
            return state.rings
        }
        if hasRung { return }
        var timer: Task<Void, Never>?
        if let time {
            guard time > clock.elapsed else { return }
            let clock = self.clock
            timer = scheduler.startWorkload(at: qosClass, name: "workload-timer") {
                guard (try? await clock.sleep(until: time, tolerance: tolerance)) != nil else { return }
                self.ring()
            }
        }
        await withCheckedContinuation { continuation in
            let rings = state.withLock { state in
                guard !state.rings else {
                    state.rings = false
                    return true
                }
                state.waiter = continuation
                return false
            }
            if rings { continuation.resume() }
        }
        timer?.cancel()
    }
}
