/// What the loop saw when it looked at a worker last, to tell a blocked one and one that does not come to its job's end.
///
/// A pure value; the loop's thread.
struct WorkerLook: Equatable {
    /// In which job the worker was, and when that was seen for the first time; monotonic nanoseconds.
    private var step: UInt64 = .max
    private var since: UInt64 = 0

    /// The thread's processor time then.
    private var used: UInt64 = 0

    private var isReported = false
    private var stillSince: UInt64?
    private var isLongTold = false

    /// Longer than a lock is waited for, as a rule. Nanoseconds.
    static let longStandstill: UInt64 = 20_000_000

    /// What a look tells.
    struct Finding: Equatable {
        /// The thread has not run since the last look, in the same job.
        var stoodStill = false
        /// The same, and it had run before that look: it is blocked if it sleeps now. If it does not, it waits for a processor,
        /// and cannot fall asleep before it has run.
        var beganToStandStill = false
        /// It has stood still for ``longStandstill`` now; told once for each standstill.
        var stoodStillForLong = false
        /// For how long the worker has been in its job at least; only once for each job, when it is over the limit. Nanoseconds.
        var stalledFor: UInt64?
    }

    /// The loop looked.
    ///
    /// - Parameters:
    ///   - step: changes with each job.
    ///   - used: the processor time of its thread; asked for only when it may matter.
    ///   - now: monotonic nanoseconds.
    ///   - limit: how long a job of the class may take before it is reported, nanoseconds.
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
                finding.stoodStillForLong = !isLongTold && now &- began >= Self.longStandstill
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
