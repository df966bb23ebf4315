import QoSCore
import QoSKernel

/// A thread's call that waits until the thread is handed a mutex.
// SAFETY: `outer`, `isUsed` and `refusal` are set under the lock of the thread's shard: `outer` before the registry
// knows the call, `isUsed` by the thread itself, `refusal` before the thread is woken for it. Only the thread touches
// `isReported` and `isOver`.
final class LockWait: @unchecked Sendable {
    let parker = Parker()

    /// The thread's id.
    let thread: UInt32

    /// The mutex.
    let resource: LockResource

    /// The name of the lock.
    let lockName: String

    /// Whether the call throws if its wait could never end.
    private let mayBeRefused: Bool

    /// Whether foreign code has, or had, the mutex in this call's place.
    var isUsed = false

    /// The circle for which the wait is given up.
    var refusal: LockRegistry.Cycle?

    /// Whether the wait has ended, so that no turn comes any more. Observers and handlers may still run within the call.
    var isOver = false

    /// Whether the wait was reported as one that never ends.
    var isReported = false

    /// The call within which foreign code made this one.
    private var outer: LockWait?

    init(thread: UInt32, for resource: LockResource, lockName: String, mayBeRefused: Bool) {
        self.thread = thread
        self.resource = resource
        self.lockName = lockName
        self.mayBeRefused = mayBeRefused
    }

    /// Whether the thread can give up the wait, and get an error. Under the lock of its shard.
    var mayBeGivenUp: Bool { mayBeRefused && !isUsed && refusal == nil }

    /// Returns the innermost call for which a condition holds, from this one outwards.
    func first(where condition: (LockWait) -> Bool) -> LockWait? {
        condition(self) ? self : outer?.first(where: condition)
    }
}

// Foreign code runs between the beginning of a wait and the sleep: handlers of a raised task's priority, observers. It
// may want the very mutex that its thread waits for. Then it gets the thread's turn, and the outer call waits anew.

extension LockRegistry {
    /// Notes a call that is about to wait. On its thread.
    func enters(_ wait: LockWait) {
        with(.thread(wait.thread)) { wait.enters(&$0) }
    }

    /// Notes that the innermost call waits no more. On its thread.
    func leaves(_ wait: LockWait) {
        with(.thread(wait.thread)) { wait.leaves(&$0) }
    }

    /// Uses the turn of an outer call of the calling thread for the same mutex, when it comes.
    ///
    /// - Parameter neverEnds: called if the turn never comes.
    /// - Returns: `false` if there is no such call.
    func usesOuterTurn(_ thread: UInt32, for resource: LockResource, _ neverEnds: (Cycle) -> Void) -> Bool {
        let party = LockParticipant.thread(thread)
        let innermost = entry(of: party)?.sleeper
        guard let outer = innermost?.first(where: { $0.resource == resource && !$0.isUsed && !$0.isOver }) else {
            return false
        }
        // From now on the outer call cannot be refused: this one needs its turn.
        with(party) { _ in outer.isUsed = true }
        while fallsAsleep(party, for: resource) {
            openOthers(party) { circle in
                if !outer.isReported { neverEnds(circle) }
                outer.isReported = true
            }
        }
        outer.parker.park()
        return true
    }
}

extension LockRegistry.Entry {
    /// The call whose wait the record has; `nil` if the record has none for a mutex.
    var call: LockWait? {
        guard let resource = record.wait?.resource, resource.kind == .mutex else { return nil }
        return sleeper?.first { $0.resource == resource }
    }
}

extension LockWait {
    fileprivate func enters(_ entry: inout LockRegistry.Entry) {
        outer = entry.sleeper
        entry.sleeper = self
    }

    fileprivate func leaves(_ entry: inout LockRegistry.Entry) {
        entry.sleeper = outer
    }
}
