import QoSCore
import QoSKernel
import Synchronization

/// A timer that can be cancelled. It holds its action until it fires or is cancelled.
// SAFETY: only the loop's thread uses `name`, only the list of the ticket uses `next`; the rest is locked or atomic.
final class TimerTicket: Linked, @unchecked Sendable {
    private struct State {
        var payload: TimerService.Payload?
        /// The sleep that has taken over the timer from a scheduler that has ended.
        var sleep: Task<Void, Never>?
    }

    private let state: Lock<State>

    /// Whether the timer has fired or was cancelled. Any thread reads it without the lock.
    private let taken = Atomic<Bool>(false)

    /// The place of the timer in the loop's set; `nil` while it is not in the set.
    var name: TimerSet<TimerService.Timer>.Name?

    var next: UInt = 0

    init(_ payload: TimerService.Payload) {
        state = Lock(State(payload: payload))
    }

    /// Whether the timer has fired or was cancelled.
    var isTaken: Bool { taken.load(ordering: .acquiring) }

    /// The action, if the timer has not fired and was not cancelled. Any thread; a caller takes the action before it
    /// performs it.
    var held: TimerService.Payload? { state.withLock { $0.payload } }

    /// Takes the action. Only one caller gets it. Any thread.
    func take() -> TimerService.Payload? {
        let (taken, sleep) = state.withLock { ($0.payload.take(), $0.sleep.take()) }
        if taken != nil { self.taken.store(true, ordering: .releasing) }
        sleep?.cancel()
        return taken
    }

    /// Lets a sleep fire the timer from now on. Cancelling the timer cancels the sleep. Any thread.
    func goesOn(with sleep: Task<Void, Never>) {
        let isTaken = state.withLock { state in
            if state.payload != nil { state.sleep = sleep }
            return state.payload == nil
        }
        if isTaken { sleep.cancel() }
    }
}
