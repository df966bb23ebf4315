import QoSCore
import QoSKernel

/// The permits of a gate for tasks, with holders and waiters: the part of an ``AsyncGate`` that the registry knows.
///
/// Threading: any thread. Lock order: the line's state, then the registry's shards.
// SAFETY: only the variables behind the lock change.
class PermitQueue: @unchecked Sendable {
    struct State {
        var available: Int
        /// The tasks with a permit, and the waiting tasks. The line retains each wait.
        var site = LockQueue()
        /// The number of permits that were taken by tasks and may be given back by any thread.
        var unowned = 0
    }

    final let state: Lock<State>

    init(permits: Int) {
        state = Lock(State(available: permits))
    }

    /// Returns the line at an address. The line is alive.
    @unsafe
    static func at(_ address: UInt) -> PermitQueue {
        unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped).takeUnretainedValue()
    }

    /// The line's name in the registry.
    final var resource: LockResource {
        .gate(UInt(bitPattern: unsafe Unmanaged.passUnretained(self).toOpaque()))
    }

    /// Runs a body with the holders and the line, under the lock.
    final func withSite<Success>(_ body: (inout LockQueue) -> Success) -> Success {
        state.withLock { body(&$0.site) }
    }

    /// The tasks that have to give back a permit; none if others may give it back.
    final var knownHolders: [LockParticipant] { state.withLock { $0.unowned > 0 ? [] : $0.site.holders.all } }
}
