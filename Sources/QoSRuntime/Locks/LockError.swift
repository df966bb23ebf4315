import QoSCore

/// The refusal of a lock.
public enum LockError: Error, Sendable, Hashable {
    /// The thread or task holds the lock already.
    case reentrant(lock: String, holder: String)
    /// The holder of the lock waits for the thread or task that asked for it, directly or through others.
    case deadlock(lock: String, waits: [String])
    /// A semaphore with a negative number of permits.
    case invalidPermits(Int)
}

extension LockError: CustomStringConvertible {
    /// The problem and its remedy.
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
    /// Reports a wait for a lock that could never end, and returns its error.
    func refusedLock(by cycle: LockRegistry.Cycle) -> LockError {
        let error = lockError(for: cycle)
        reportDeadlock(cycle, "\(error)")
        return error
    }

    /// Reports a wait for a lock that cannot be refused, and will never end.
    ///
    /// Ends the process if the thread waits for itself, as `Synchronization.Mutex` does.
    func reportEndlessLock(by cycle: LockRegistry.Cycle) {
        let remedy = "withCheckedLock throws instead, and withLockIfAvailable does not wait"
        guard !cycle.isReentrant else {
            reportDeadlock(cycle, "\(lockError(for: cycle)): \(remedy)")
            fatalError("QoSMutex.withLock within itself: \(lockError(for: cycle)); \(remedy)")
        }
        reportEndless(
            cycle, "\(lockError(for: cycle)). QoSMutex.withLock cannot throw, so the thread sleeps for ever: \(remedy)")
    }

    private func lockError(for cycle: LockRegistry.Cycle) -> LockError {
        cycle.isReentrant
            ? .reentrant(lock: lockName, holder: name ?? party.name)
            : .deadlock(lock: lockName, waits: descriptions(of: cycle))
    }
}
