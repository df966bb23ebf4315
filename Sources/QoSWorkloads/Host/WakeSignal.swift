internal import QoSCore
internal import QoSKernel

/// A signal that one task waits for, until another thread sends it or a time comes.
///
/// A cancelled sleep leaves its timer with the executor until its time comes: the concurrency library cannot take it
/// back. So a wait that ends early keeps its timer for the next one. Most waits of a host are for ever later times, and
/// then the timer sleeps on when it fires.
///
/// Threading: any thread wakes; one task waits.
final class WakeSignal: Sendable {
    private struct State {
        var isWoken = false
        var waiter: CheckedContinuation<Void, Never>?
        /// The time for which a task waits.
        var deadline: Duration?
        var timer: Timer?
        var lastTimer = 0
        var isClosed = false
    }

    /// A timer that sleeps.
    private struct Timer {
        var number: Int
        var time: Duration
        /// Nil until it is known.
        var task: Task<Void, Never>?
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

    /// Ends the current wait, or the next one.
    func wake() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state.waiter = nil }
            state.isWoken = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Ends the timer. The next waits are for the signal alone.
    func close() {
        let task = state.withLock { state in
            defer { state.timer = nil }
            state.isClosed = true
            return state.timer?.task
        }
        task?.cancel()
    }

    /// Suspends until a wake-up or until the monotonic clock reaches a time; `nil` waits for a wake-up alone.
    func wait(until time: Duration?) async {
        let isWoken = state.withLock { state in
            defer { state.isWoken = false }
            return state.isWoken
        }
        if isWoken { return }
        if let time {
            guard time > clock.elapsed else { return }
            setTimer(to: time)
        }
        await withCheckedContinuation { continuation in
            let isWoken = state.withLock { state in
                guard !state.isWoken else {
                    state.isWoken = false
                    return true
                }
                state.waiter = continuation
                return false
            }
            if isWoken { continuation.resume() }
        }
        state.withLock { $0.deadline = nil }
    }

    /// Lets a timer wake the task at a time, the one that sleeps if it fires early enough.
    private func setTimer(to time: Duration) {
        let (number, old) = state.withLock { state -> (Int?, Task<Void, Never>?) in
            guard !state.isClosed else { return (nil, nil) }
            state.deadline = time
            if let timer = state.timer, timer.time <= time { return (nil, nil) }
            let old = state.timer?.task
            state.lastTimer += 1
            state.timer = Timer(number: state.lastTimer, time: time)
            return (state.lastTimer, old)
        }
        old?.cancel()
        guard let number else { return }
        let task = scheduler.startWorkload(at: qosClass, name: "workload-timer") {
            await self.runTimer(number, until: time)
        }
        let isOver = state.withLock { state in
            guard state.timer?.number == number else { return true }
            state.timer?.task = task
            return false
        }
        if isOver { task.cancel() }
    }

    private func runTimer(_ number: Int, until time: Duration) async {
        var next: Duration? = time
        while let time = next {
            guard (try? await clock.sleep(until: time, tolerance: .zero)) != nil else { return }
            let now = clock.elapsed
            var isDue = false
            next = state.withLock { state in
                guard state.timer?.number == number else { return nil }
                if let deadline = state.deadline, deadline > now {
                    state.timer?.time = deadline
                    return deadline
                }
                isDue = state.deadline != nil
                state.timer = nil
                return nil
            }
            if isDue { wake() }
        }
    }
}
