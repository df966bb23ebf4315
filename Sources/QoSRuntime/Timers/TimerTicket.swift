import QoSCore
import QoSKernel
import Synchronization

/// A timer that can be cancelled: what it does, until it fires or is cancelled.
// SAFETY: `name` belongs to the loop's thread, `next` to the list that the ticket stands in; the rest is locked or atomic.
final class TimerTicket: Linked, @unchecked Sendable {
    private let payload: Lock<TimerService.Payload?>

    /// Whether the timer has fired or was cancelled. Any thread, without the lock.
    private let taken = Atomic<Bool>(false)

    /// Where the timer stands in the loop's set; `nil` while it does not.
    var name: TimerSet<TimerService.Payload>.Name?

    var next: UInt = 0

    init(_ payload: TimerService.Payload) {
        self.payload = Lock(payload)
    }

    /// Whether the timer has fired or was cancelled.
    var isTaken: Bool { taken.load(ordering: .acquiring) }

    /// Takes what the timer does; one caller alone gets it. Any thread.
    func take() -> TimerService.Payload? {
        let taken = payload.withLock { $0.take() }
        if taken != nil { self.taken.store(true, ordering: .releasing) }
        return taken
    }
}
