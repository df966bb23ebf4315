import QoSCore

/// Why a lock was refused.
public enum LockError: Error, Sendable, Hashable {
    /// The thread or task holds the lock already.
    case reentrant(lock: String, holder: String)
    /// Whoever holds the lock waits, in the end, for the one that asked for it.
    case deadlock(lock: String, waits: [String])
    /// A semaphore of fewer than no permits.
    case invalidPermits(Int)
}

extension LockError: CustomStringConvertible {
    /// What is wrong and what to do about it.
    public var description: String {
        switch self {
        case .reentrant(let lock, let holder):
            "\(holder) holds \(lock) already and asked for it again: pass the locked value on instead of locking twice"
        case .deadlock(let lock, let waits):
            "a wait for \(lock) would never end (\(waits.joined(separator: "; "))): take locks in one order everywhere"
        case .invalidPermits(let permits):
            "a semaphore of \(permits) permits: use 0 or more"
        }
    }
}

extension LockWaiter {
    /// The error for a wait for a lock that could never end, which is reported too.
    func refusedLock(by cycle: LockRegistry.Cycle) -> LockError {
        let error: LockError =
            cycle.isReentrant
            ? .reentrant(lock: lockName, holder: name ?? party.name)
            : .deadlock(lock: lockName, waits: descriptions(of: cycle))
        reportDeadlock(cycle, "\(error)")
        return error
    }
}
