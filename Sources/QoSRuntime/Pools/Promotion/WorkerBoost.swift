import QoSCore
import QoSKernel
import Synchronization

/// The raise of a worker's job behind its lock, and a copy of whether there is one.
///
/// The lock also guards the worker's standing: a raise changes the class that counts the worker
/// (`Docs/Inside/Protocols/promotion.md`).
///
/// Threading: any thread.
struct WorkerBoost: ~Copyable {
    private let raise = Lock(WorkerRaise.none)

    /// Whether there is a raise to undo. Written with the lock held, after everything else: the worker may be counted
    /// elsewhere as soon as it has seen that there is none.
    let isUp = Atomic<Bool>(false)

    /// Waits for the lock, then runs a body with the raise.
    func withLock<Result>(_ body: (inout WorkerRaise) -> sending Result) -> sending Result {
        raise.withLock { raise in
            defer { isUp.store(raise != .none, ordering: .releasing) }
            return body(&raise)
        }
    }

    /// Runs a body with the raise if the lock is free; otherwise returns `nil` at once.
    func withLockIfAvailable<Result>(_ body: (inout WorkerRaise) -> sending Result) -> sending Result? {
        raise.withLockIfAvailable { raise in
            defer { isUp.store(raise != .none, ordering: .releasing) }
            return body(&raise)
        }
    }
}
