import QoSCore
import QoSKernel
import Synchronization

/// A timer that can be cancelled: what it does, until it fires or is cancelled.
// SAFETY: `name` belongs to the loop's thread, `next` to the list that the ticket stands in; the rest is locked or atomic.
final class TimerTicket: Linked, @unchecked Sendable {
    private struct State {
        var payload: TimerService.Payload?
        /// The sleep that has taken the timer over from a scheduler that has ended.
        var sleep: Task<Void, Never>?
    }

    private let state: Lock<State>

    /// Whether the timer has fired or was cancelled. Any thread, without the lock.
    private let taken = Atomic<Bool>(false)

    /// Where the timer stands in the loop's set; `nil` while it does not.
    var name: TimerSet<TimerService.Payload>.Name?

    var next: UInt = 0

    init(_ payload: TimerService.Payload) {
        state = Lock(State(payload: payload))
    }

    /// Whether the timer has fired or was cancelled.
    var isTaken: Bool { taken.load(ordering: .acquiring) }

    /// What the timer does, if it has not fired and was not cancelled. Any thread; whoever wants to do it takes it first.
    var held: TimerService.Payload? { state.withLock { $0.payload } }

    /// Takes what the timer does; one caller alone gets it. Any thread.
    func take() -> TimerService.Payload? {
        let (taken, sleep) = state.withLock { ($0.payload.take(), $0.sleep.take()) }
        if taken != nil { self.taken.store(true, ordering: .releasing) }
        sleep?.cancel()
        return taken
    }

    /// A sleep fires the timer from now on, and is cancelled with it. Any thread.
    func goesOn(with sleep: Task<Void, Never>) {
        let isTaken = state.withLock { state in
            if state.payload != nil { state.sleep = sleep }
            return state.payload == nil
        }
        if isTaken { sleep.cancel() }
    }
}
