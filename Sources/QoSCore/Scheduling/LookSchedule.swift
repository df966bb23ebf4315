/// The times of the loop's looks: through the queues for awaited work (rule I4), and at the workers.
///
/// The loop reports each turn and each look with the facts of that moment. The answer says whether the loop looks now,
/// or when (`Docs/Inside/Protocols/promotion.md`). All times are monotonic nanoseconds.
package struct LookSchedule: Sendable, Equatable {
    /// The interval of the looks through the queues while work waits in them.
    package static let rescanInterval: UInt64 = 2_000_000

    /// The least interval of these looks when the raise of an item of a work queue is reported to the loop.
    package static let toldInterval: UInt64 = 1_000_000

    /// The least interval of these looks when a program raises a task itself. That is rare, so the loop may hurry.
    package static let raiseInterval: UInt64 = 50_000

    /// The interval after a worker has blocked while work waits: the one that stands in for it may block in turn. It
    /// doubles with each look that finds no other, up to ``rescanInterval``.
    package static let detectionInterval: UInt64 = 250_000

    /// The interval while no worker is awake: the queued work is paused, and a thread outside of the pools may begin to
    /// wait for it.
    package static let slowInterval: UInt64 = 100_000_000

    /// The interval of looks at the workers while any is awake.
    package static let watchInterval: UInt64 = 250_000_000

    /// The looks through the queues.
    private enum Rescan: Equatable {
        /// No work waits.
        case idle
        /// The loop has to look, and has told the other threads whether the next look will be slow.
        case beginning(isSlow: Bool)
        /// The latest look began at one time, and the next one is due at another.
        case planned(began: UInt64, next: UInt64, isSlow: Bool)
    }

    /// The looks at the workers.
    private enum Watch: Equatable {
        /// All workers sleep.
        case idle
        /// The next look is due at this time.
        case planned(next: UInt64)
    }

    private var rescan = Rescan.idle

    /// The number of workers that had blocked by the latest look, and the interval that follows from that.
    private var blocked: UInt64 = 0
    private var detection = rescanInterval

    private var watch = Watch.idle

    /// Makes a schedule without a look.
    package init() {}

    // MARK: Looks through the queues

    /// The answer to a turn of the loop while work waits.
    package enum RescanTurn: Equatable {
        /// The next look is due at this time.
        case waits(until: UInt64)
        /// The loop looks now. It first tells the other threads whether the look after this one will be slow.
        case looks(announcingSlow: Bool)
    }

    /// The raises that were reported to the loop since its last look.
    package enum Told: Sendable, CaseIterable {
        case nothing
        /// The raise of an item of a work queue has changed.
        case itemRaised
        /// The program has raised a task.
        case taskRaised

        fileprivate var interval: UInt64 {
            switch self {
            case .nothing: .max
            case .itemRaised: toldInterval
            case .taskRaised: raiseInterval
            }
        }
    }

    /// Notes a turn of the loop while work waits.
    ///
    /// - Parameters:
    ///   - isAsleep: whether no worker is awake. The pools then run nothing that could begin to wait.
    ///   - told: the raises that were reported since the last look.
    package mutating func workWaits(at now: UInt64, isAsleep: Bool, told: Told) -> RescanTurn {
        if case .planned(let began, let planned, let isSlow) = rescan {
            let next = min(planned, Self.time(began, plus: told.interval))
            let isSlowEnough = isAsleep && told == .nothing
            if now < next, !isSlow || isSlowEnough { return .waits(until: next) }
        }
        rescan = .beginning(isSlow: isAsleep)
        return .looks(announcingSlow: isAsleep)
    }

    /// Notes that a look through the queues begins, and plans the next one.
    ///
    /// - Parameter isAsleep: whether no worker is awake, read again after the other threads were told.
    package mutating func rescanBegan(at now: UInt64, isAsleep: Bool) {
        guard case .beginning(let isSlow) = rescan else { return }
        let interval = isSlow && isAsleep ? Self.slowInterval : Self.rescanInterval
        rescan = .planned(began: now, next: Self.time(now, plus: interval), isSlow: isSlow)
    }

    /// Notes the result of this look at the workers. After a worker has blocked, the next looks come sooner.
    ///
    /// - Parameter blocked: the number of workers that have blocked so far, in all.
    package mutating func workersLooked(blocked: UInt64) {
        detection = blocked == self.blocked ? min(2 * detection, Self.rescanInterval) : Self.detectionInterval
        self.blocked = blocked
        guard case .planned(let began, let next, let isSlow) = rescan,
            next <= Self.time(began, plus: Self.rescanInterval)
        else { return }
        rescan = .planned(began: began, next: Self.time(began, plus: detection), isSlow: isSlow)
    }

    /// Notes that no work waits any more.
    package mutating func workEnded() {
        rescan = .idle
    }

    /// The time of the next look through the queues; `nil` while no work waits.
    package var nextRescan: UInt64? {
        if case .planned(_, let next, _) = rescan { next } else { nil }
    }

    // MARK: Looks at the workers

    /// The answer to a turn of the loop while workers are awake.
    package enum WatchTurn: Equatable {
        /// The next look is due at this time.
        case waits(until: UInt64)
        /// Workers have just woken, and the first look comes after an interval.
        case begins
        /// The loop looks now.
        case looks
    }

    /// Notes a turn of the loop while workers are awake, and plans the next look if this one is due.
    package mutating func workersAwake(at now: UInt64) -> WatchTurn {
        let turn: WatchTurn
        switch watch {
        case .idle: turn = .begins
        case .planned(let next) where now < next: return .waits(until: next)
        case .planned: turn = .looks
        }
        watch = .planned(next: Self.time(now, plus: Self.watchInterval))
        return turn
    }

    /// Notes that all workers sleep, and none of them has to end.
    package mutating func workersSleep() {
        watch = .idle
    }

    /// The time of the next look at the workers; `nil` while all of them sleep.
    package var nextWatch: UInt64? {
        if case .planned(let next) = watch { next } else { nil }
    }

    private static func time(_ time: UInt64, plus interval: UInt64) -> UInt64 {
        let (sum, overflows) = time.addingReportingOverflow(interval)
        return overflows ? .max : sum
    }
}
