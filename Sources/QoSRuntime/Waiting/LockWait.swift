import QoSCore
import QoSKernel

/// A thread's call that waits until the thread is handed a mutex.
// SAFETY: `outer` is set under the lock of the thread's shard, before the registry knows the call. Only the thread
// touches `isUsed` and `isReported`.
final class LockWait: @unchecked Sendable {
    let parker = Parker()

    /// The thread's id.
    let thread: UInt32

    /// The mutex.
    let resource: LockResource

    /// The name of the lock.
    let lockName: String

    /// Whether foreign code had the mutex in this call's place.
    var isUsed = false

    /// Whether the wait was reported as one that never ends.
    var isReported = false

    /// The call within which foreign code made this one.
    private var outer: LockWait?

    init(thread: UInt32, for resource: LockResource, lockName: String) {
        self.thread = thread
        self.resource = resource
        self.lockName = lockName
    }

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
        guard let outer = innermost?.first(where: { $0.resource == resource && !$0.isUsed }) else { return false }
        outer.isUsed = true
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

extension LockWait {
    fileprivate func enters(_ entry: inout LockRegistry.Entry) {
        outer = entry.sleeper
        entry.sleeper = self
    }

    fileprivate func leaves(_ entry: inout LockRegistry.Entry) {
        entry.sleeper = outer
    }
}
