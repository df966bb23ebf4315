internal import QoSKernel

/// The decision when a suspect runs alone at its host. A value; times are those of a monotonic clock.
///
/// An item that was there when a process ended may be what ended it. If it ends the next process as well, all that runs
/// beside it is lost, too. So a host runs each such *suspect* alone, for a trial at the beginning of its attempt:
///
/// 1. While a suspect waits or is on trial, the host claims nothing.
/// 2. After its patience, the host asks the other attempts to go on later. They keep their places in the work by their
///    checkpoints.
/// 3. If they do not stop for a second patience, the suspect begins beside them: no item waits for ever.
struct Solitude: Sendable, Hashable {
    /// The next thing to do.
    enum Step: Sendable, Hashable {
        /// Nothing is in the way of new items.
        case admit
        /// Claim nothing until this time, or until an attempt ends.
        case hold(until: Duration)
        /// Ask all others to stop, and claim nothing until this time, or until an attempt ends.
        case askOthers(until: Duration)
        /// Start a suspect.
        case start(WorkloadLease)
    }

    /// The suspects that were claimed and have not begun, with the times of their claims.
    private(set) var waiting: [(lease: WorkloadLease, since: Duration)] = []
    /// The suspect on trial, and the end of its trial.
    private(set) var onTrial: (lease: WorkloadLease, end: Duration)?

    /// Notes that a suspect was claimed.
    mutating func claimed(_ lease: WorkloadLease, at now: Duration) { waiting.append((lease, now)) }

    /// Notes that an attempt has ended, or is to begin in any case.
    mutating func left(_ lease: WorkloadLease) {
        waiting.removeAll { $0.lease == lease }
        if onTrial?.lease == lease { onTrial = nil }
    }

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - others: the number of attempts that have begun.
    ///   - patience: the time after which the others are asked to stop, and after which they are no longer waited for.
    ///   - trial: the time for which a suspect is alone.
    mutating func step(others: Int, patience: Duration, trial: Duration, at now: Duration) -> Step {
        if let current = onTrial {
            guard current.end <= now else { return .hold(until: current.end) }
            onTrial = nil
        }
        guard let next = waiting.first else { return .admit }
        let (ask, giveUp) = (next.since + patience, next.since + patience * 2)
        guard others == 0 || giveUp <= now else {
            return ask <= now ? .askOthers(until: giveUp) : .hold(until: ask)
        }
        waiting.removeFirst()
        onTrial = (next.lease, now + trial)
        return .start(next.lease)
    }

    static func == (left: Solitude, right: Solitude) -> Bool {
        left.waiting.map(\.lease) == right.waiting.map(\.lease) && left.onTrial?.lease == right.onTrial?.lease
    }

    func hash(into hasher: inout Hasher) { hasher.combine(waiting.map(\.lease)) }
}

extension WorkloadHost {
    /// Whether a claimed item is a suspect, which does not begin at once.
    func isSuspect(_ attempt: Attempt) -> Bool {
        attempt.record.life.crashes > 0 && configuration.suspectTrial > .zero
    }

    /// Lets a suspect wait until it is alone.
    ///
    /// - Returns: `false` if another one waits or is on trial. Its lease goes back before that one begins: a crash must
    ///   not count for both.
    func waitsAlone(_ attempt: Attempt) -> Bool {
        let now = clock.elapsed
        return state.withLock { state in
            guard state.solitude.waiting.isEmpty, state.solitude.onTrial == nil else { return false }
            state.solitude.claimed(attempt.lease, at: now)
            return true
        }
    }

    /// Starts suspects whose turn has come.
    ///
    /// - Returns: the time until which the host claims nothing; `nil` if it may claim.
    func stepSolitude() -> Duration? {
        releaseStopped()
        while true {
            let now = clock.elapsed
            let (patience, trial) = (configuration.patience, configuration.suspectTrial)
            let step = state.withLock { state in
                let waiting = Set(state.solitude.waiting.map(\.lease))
                // The store may not know yet that the leases of some are given back.
                let others = state.attempts.keys.count { !waiting.contains($0) } + state.ends.count
                return state.solitude.step(others: others, patience: patience, trial: trial, at: now)
            }
            switch step {
            case .admit: return nil
            case .hold(let end): return end
            case .askOthers(let end):
                let waiting = state.withLock { Set($0.solitude.waiting.map(\.lease)) }
                for attempt in attempts where !waiting.contains(attempt.lease) {
                    attempt.signals.set(.stop("an item that ran when a process ended runs alone for a while"))
                }
                return end
            case .start(let lease):
                let attempt = state.withLock { $0.attempts[lease] }
                if let attempt { launchLate(attempt) }
            }
        }
    }

    /// Whether the host may claim items: no suspect waits, and none is on trial.
    var admitsClaims: Bool {
        state.withLock { $0.solitude.waiting.isEmpty && $0.solitude.onTrial == nil }
    }

    /// Lets suspects that were asked to stop before they began come to their end.
    func releaseStopped() {
        let waiting = state.withLock { state in
            state.solitude.waiting.compactMap { state.attempts[$0.lease] }
        }
        for attempt in waiting {
            switch attempt.signals.request {
            case .none, .wait: continue
            case .stop, .cancel:
                state.withLock { $0.solitude.left(attempt.lease) }
                launchLate(attempt)
            }
        }
    }

    private func launchLate(_ attempt: Attempt) {
        launch([attempt], at: clock.elapsed)
        leaseKeeper.look()
    }
}
