import QoSCore
import QoSKernel

/// The permits of a gate for tasks, who holds them, and who stands in line: as much of an ``AsyncGate`` as the registry knows.
///
/// Threading: any thread. Lock order: the line's state, then the registry's shards.
// SAFETY: nothing in it changes but what stands behind the lock.
class PermitLine: @unchecked Sendable {
    struct State {
        var available: Int
        /// The tasks with a permit, and those that wait; a wait is retained by the line.
        var site = WaitSite()
        /// Permits that were taken by tasks and may be given back by anybody.
        var unowned = 0
    }

    final let state: Lock<State>

    init(permits: Int) {
        state = Lock(State(available: permits))
    }

    /// The line at an address, which is alive.
    @unsafe
    static func at(_ address: UInt) -> PermitLine {
        unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped).takeUnretainedValue()
    }

    /// Names the line in the registry.
    final var resource: LockResource {
        .gate(UInt(bitPattern: unsafe Unmanaged.passUnretained(self).toOpaque()))
    }

    /// Runs a body with the holders and the line, under the lock.
    final func withSite<Success>(_ body: (inout WaitSite) -> Success) -> Success {
        state.withLock { body(&$0.site) }
    }

    /// The tasks that have to give back a permit; none where others may.
    final var knownHolders: [LockParty] { state.withLock { $0.unowned > 0 ? [] : $0.site.holders } }
}
