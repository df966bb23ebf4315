package import QoSCore

/// The kernel settings of a class's threads: one column of the table of effects (rule C6).
///
/// | | userInteractive | userInitiated | default | utility | background |
/// |---|---|---|---|---|---|
/// | policy | OTHER | OTHER | OTHER | BATCH | BATCH; privileged, polite: IDLE |
/// | nice, privileged, own group | −8 | −4 | 17 | 18 | 19 |
/// | nice, privileged, polite | −12 | −8 | 0 | 10 | – |
/// | nice, unprivileged, own group | 0 | 0 | 17 | 18 | 19 |
/// | nice, unprivileged, polite | 0 | 0 | 3 | 10 | 19 |
/// | slice | 0.1 ms | 0.5 ms | 0.5 ms | 0.5 ms | 0.5 ms; IDLE: kernel's |
/// | I/O priority | BE 0 | BE 2 | BE 4 | BE 6 | IDLE |
/// | timer slack | 1 µs | 50 µs | 50 µs | 5 ms | 75 ms |
///
/// A running thread finishes the least slice that is queued on its processor before a thread of nice 0 may preempt it.
/// So a short slice of the lower classes keeps the process's other threads fast, such as those of a network library.
///
/// Unprivileged background work is BATCH at nice 19 and not IDLE. An IDLE thread may stand still behind any busy
/// neighbour in the group, and without privileges no thread may take it out of IDLE again. In a group of its own the
/// lower classes stand far below the high ones and close to one another. So the kernel keeps the high ones fast, and
/// admission orders the low ones (`Docs/Inside/Decisions/0007-nice-values.md`).
package struct ClassEffects: Sendable, Hashable {
    /// The scheduling policy.
    package let policy: SchedulingPolicy
    /// The nice value; `nil` where it does not count, with IDLE.
    package let nice: Int?
    /// The slice in nanoseconds; `nil` is the kernel's own.
    package let slice: UInt64?
    /// The I/O class and level.
    package let ioPriority: IOPriority
    /// The timer slack in nanoseconds.
    package let timerSlack: UInt64

    /// Policy, nice and slice for one sched_setattr(2), as for the promotion of a running thread.
    package var scheduling: Scheduling {
        Scheduling(policy: policy, nice: nice ?? 0, slice: slice)
    }

    /// Looks up the table; O(1).
    ///
    /// - Parameters:
    ///   - mode: `reversible`, `oneWay` and `denied` ask for the same; what is refused is recorded on applying.
    ///   - spread: of the process's group.
    package init(_ qosClass: QoSClass, mode: EffectMode, spread: NiceSpread) {
        nice = Self.nice(qosClass, mode: mode, spread: spread)
        switch qosClass {
        case .userInteractive:
            (policy, slice, ioPriority, timerSlack) = (.other, 100_000, .bestEffort(level: 0), 1_000)
        case .userInitiated:
            (policy, slice, ioPriority, timerSlack) = (.other, 500_000, .bestEffort(level: 2), 50_000)
        case .default:
            (policy, slice, ioPriority, timerSlack) = (.other, 500_000, .bestEffort(level: 4), 50_000)
        case .utility:
            (policy, slice, ioPriority, timerSlack) = (.batch, 500_000, .bestEffort(level: 6), 5_000_000)
        case .background:
            (policy, slice, ioPriority, timerSlack) = (
                nice == nil ? .idle : .batch, nice == nil ? nil : 500_000, .idle, 75_000_000
            )
        }
    }

    private static func nice(_ qosClass: QoSClass, mode: EffectMode, spread: NiceSpread) -> Int? {
        switch (mode, spread) {
        case (.privileged, .own):
            switch qosClass {
            case .userInteractive: -8
            case .userInitiated: -4
            case .default: 17
            case .utility: 18
            case .background: 19
            }
        case (.privileged, .polite):
            switch qosClass {
            case .userInteractive: -12
            case .userInitiated: -8
            case .default: 0
            case .utility: 10
            case .background: nil
            }
        case (_, .own):
            switch qosClass {
            case .userInteractive, .userInitiated: 0
            case .default: 17
            case .utility: 18
            case .background: 19
            }
        case (_, .polite):
            switch qosClass {
            case .userInteractive, .userInitiated: 0
            case .default: 3
            case .utility: 10
            case .background: 19
            }
        }
    }
}
