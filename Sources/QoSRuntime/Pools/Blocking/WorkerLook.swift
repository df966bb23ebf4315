/// The results of the loop's last look at a worker. They show whether the worker is blocked, or its job does not end.
///
/// A pure value for the loop's thread.
struct WorkerLook: Equatable {
    /// The worker's job, by its step, and the time at which the loop first saw the worker in it; monotonic nanoseconds.
    private var step: UInt64 = .max
    private var since: UInt64 = 0

    /// The thread's processor time at the last look.
    private var used: UInt64 = 0

    private var isReported = false
    private var stillSince: UInt64?
    private var isLongTold = false

    /// A time longer than a lock is waited for, as a rule. Nanoseconds.
    static let longDeadlockedSet: UInt64 = 20_000_000

    /// The findings of a look.
    struct Finding: Equatable {
        /// The thread has not run since the last look, in the same job.
        var stoodStill = false
        /// The thread stood still, and had run before the last look. It is blocked if it sleeps now. Otherwise it waits
        /// for a processor, and cannot fall asleep before it has run.
        var beganToStandStill = false
        /// The thread has stood still for ``longDeadlockedSet`` now. Reported once for each standstill.
        var stoodStillForLong = false
        /// The least time for which the worker has been in its job, if that is over the limit. Reported once for each
        /// job. Nanoseconds.
        var stalledFor: UInt64?
    }

    /// Compares a look with the last one.
    ///
    /// - Parameters:
    ///   - step: the worker's step, which changes with each job.
    ///   - used: returns the processor time of the worker's thread; called only when it may matter.
    ///   - now: monotonic nanoseconds.
    ///   - limit: the time after which a job of the class is reported, nanoseconds.
    mutating func looked(step: UInt64, used: () -> UInt64?, now: UInt64, limit: UInt64) -> Finding {
        guard step == self.step else {
            self = WorkerLook(step: step, since: now, used: used() ?? 0)
            return Finding()
        }
        var finding = Finding()
        if let latest = used() {
            finding.stoodStill = latest == self.used
            if finding.stoodStill {
                finding.beganToStandStill = stillSince == nil
                let began = stillSince ?? now
                stillSince = began
                finding.stoodStillForLong = !isLongTold && now &- began >= Self.longDeadlockedSet
                isLongTold = isLongTold || finding.stoodStillForLong
            } else {
                (stillSince, isLongTold) = (nil, false)
            }
            self.used = latest
        }
        if !isReported, now &- since >= limit {
            isReported = true
            finding.stalledFor = now &- since
        }
        return finding
    }

    init() {}

    private init(step: UInt64, since: UInt64, used: UInt64) {
        self.step = step
        self.since = since
        self.used = used
    }
}
