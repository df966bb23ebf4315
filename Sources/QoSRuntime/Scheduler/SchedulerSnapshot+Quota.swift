public import QoSCore
import QoSKernel

extension SchedulerSnapshot {
    /// The quota of processor time of the process's control group, and how the low classes keep to it.
    ///
    /// A group that has used its quota is stopped until the kernel's next period. So the classes below userInitiated
    /// spend only what the high ones leave.
    public struct ProcessorQuota: Sendable, Hashable, Codable {
        /// The quota, in processors: 0.5 for 50 ms in each 100 ms.
        public let processors: Double
        /// The time after which the kernel refills the quota.
        public var period: Duration { .nanoseconds(periodNanoseconds) }
        /// What the group may still use in this period, as of the last reading.
        public var left: Duration { .nanoseconds(leftNanoseconds) }
        /// What is kept for bursts of the high classes, and for the inaccuracy of the kernel's accounts.
        public var reserve: Duration { .nanoseconds(reserveNanoseconds) }
        /// What the high classes and other threads use of late, in processors.
        public let highProcessors: Double
        /// The low classes that are held back at this moment.
        public let held: [QoSClass]
        /// The number of times that low classes were held back.
        public let holds: UInt64
        /// The number of times that a low class was let in although nothing was left, because it had waited for its
        /// worst-case wait (rule C7).
        public let starvationWindows: UInt64
        /// The kernel's periods in which the group ran, since the scheduler knows of the quota. 0 if the kernel's
        /// account cannot be read.
        public let periods: UInt64
        /// Those of them in which the kernel stopped the group.
        public let throttledPeriods: UInt64
        /// Those of the stopped ones in which low work had run. In the others, the high classes or other processes of
        /// the group used all of the quota.
        public let throttledBesideLowWork: UInt64

        let periodNanoseconds: UInt64
        let leftNanoseconds: UInt64
        let reserveNanoseconds: UInt64
    }
}

extension SchedulerCore {
    /// The quota and its use; `nil` without one. Waits for the lock.
    func quotaSnapshot() -> SchedulerSnapshot.ProcessorQuota? {
        group.budget.state.withLock { state in
            guard let budget = state.budget else { return nil }
            let tally = budget.tally
            return SchedulerSnapshot.ProcessorQuota(
                processors: budget.quota.rate, highProcessors: budget.expectedRate, held: state.held.members,
                holds: tally.holds, starvationWindows: tally.windows, periods: tally.periods,
                throttledPeriods: tally.throttled, throttledBesideLowWork: tally.throttledBesideLow,
                periodNanoseconds: UInt64(budget.quota.period), leftNanoseconds: UInt64(budget.left),
                reserveNanoseconds: UInt64(budget.reserve))
        }
    }
}
