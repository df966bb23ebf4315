internal import Glibc
package import QoSCore

/// Gives threads the scheduling of their class.
///
/// A knob that is refused never keeps the others from being set: each is recorded in ``AppliedEffects``.
package struct EffectApplier: Sendable {
    /// Which column of the table of effects applies.
    package let mode: EffectMode
    /// Which spread of nice values applies to unprivileged processes.
    package let spread: NiceSpread
    private let calls: any SchedulingCalls

    /// - Parameters:
    ///   - mode: from ``EffectProbe``.
    ///   - spread: from ``NiceScope``.
    package init(mode: EffectMode, spread: NiceSpread, calls: any SchedulingCalls = LinuxSchedulingCalls()) {
        self.mode = mode
        self.spread = spread
        self.calls = calls
    }

    /// Applies a class's effects and reads them back; seven to ten system calls, 4 µs.
    ///
    /// Whatever the thread inherited from its creator is replaced, where that is allowed: policy, nice, slice, I/O
    /// priority and timer slack. Any thread may call it for any thread of the process; a sibling's timer slack needs
    /// CAP_SYS_NICE.
    ///
    /// - Parameter thread: the calling one, unless another is named.
    /// - Returns: what was asked, refused and read back. Nothing is thrown.
    package func apply(_ qosClass: QoSClass, to thread: ThreadID = .current) -> AppliedEffects {
        let wanted = ClassEffects(qosClass, mode: mode, spread: spread)
        let outcome = wanted.policy.isFair ? setFair(wanted, thread) : setIdle(wanted, thread)
        let ioError = failure { () throws(KernelError) in try calls.setIOPriority(wanted.ioPriority, of: thread) }
        let slackError = failure { () throws(KernelError) in
            try calls.setTimerSlack(nanoseconds: wanted.timerSlack, of: thread)
        }
        let scheduling = Result { () throws(KernelError) in try calls.scheduling(of: thread) }
        return AppliedEffects(
            qosClass: qosClass,
            thread: thread,
            policy: KnobOutcome(asked: wanted.policy, error: outcome.policy, readBack: scheduling.map(\.policy)),
            nice: KnobOutcome(asked: outcome.askedNice, error: outcome.nice) { () throws(KernelError) in
                try calls.nice(of: thread)
            },
            slice: KnobOutcome(
                asked: wanted.slice, error: outcome.slice, readBack: Self.slice(of: thread, scheduling)),
            ioPriority: KnobOutcome(asked: wanted.ioPriority, error: ioError) { () throws(KernelError) in
                try calls.ioPriority(of: thread)
            },
            timerSlack: KnobOutcome(asked: wanted.timerSlack, error: slackError) { () throws(KernelError) in
                try calls.timerSlack(of: thread)
            })
    }

    /// Which of the three knobs of sched_setattr(2) failed.
    private struct SchedulingOutcome {
        var policy: KernelError?
        var nice: KernelError?
        var slice: KernelError?
        var askedNice: Int?
    }

    /// Sets all three in one call. If that is refused, the refusal is mostly nice's: policy and slice go in with the
    /// nice value the thread has, and nice goes on its own.
    private func setFair(_ wanted: ClassEffects, _ thread: ThreadID) -> SchedulingOutcome {
        let together = failure { () throws(KernelError) in
            try calls.setScheduling(wanted.scheduling, of: thread)
        }
        guard together != nil else { return SchedulingOutcome(askedNice: wanted.nice) }
        let withoutNice = failure { () throws(KernelError) in
            let present = try calls.nice(of: thread)
            try calls.setScheduling(
                Scheduling(policy: wanted.policy, nice: present, slice: wanted.slice), of: thread)
        }
        let niceAlone = failure { () throws(KernelError) in
            try calls.setNice(wanted.scheduling.nice, of: thread)
        }
        return SchedulingOutcome(
            policy: withoutNice, nice: niceAlone, slice: withoutNice, askedNice: wanted.nice)
    }

    /// Enters IDLE with the kernel's own slice.
    ///
    /// IDLE keeps the slice it finds, so an inherited one is taken back while the policy is still a fair one. Where
    /// IDLE is refused, the nearest thing is the last nice value.
    private func setIdle(_ wanted: ClassEffects, _ thread: ThreadID) -> SchedulingOutcome {
        let reset = failure { () throws(KernelError) in
            let present = try calls.scheduling(of: thread)
            guard present.policy != wanted.policy else { return }
            try calls.setScheduling(Scheduling(policy: .other, nice: present.nice), of: thread)
        }
        let idle = failure { () throws(KernelError) in
            try calls.setScheduling(wanted.scheduling, of: thread)
        }
        guard idle != nil else { return SchedulingOutcome(slice: reset) }
        let last = Scheduling.niceRange.upperBound
        let nice = failure { () throws(KernelError) in try calls.setNice(last, of: thread) }
        return SchedulingOutcome(policy: idle, nice: nice, slice: reset, askedNice: last)
    }

    private static func slice(
        of thread: ThreadID, _ scheduling: Result<Scheduling, KernelError>
    ) -> Result<UInt64, KernelError> {
        scheduling.flatMap { scheduling in
            scheduling.slice.map { .success($0) }
                ?? .failure(KernelError(.getScheduling, code: EOPNOTSUPP, subject: "the slice of \(thread)"))
        }
    }

    private func failure(_ action: () throws(KernelError) -> Void) -> KernelError? {
        do throws(KernelError) {
            try action()
            return nil
        } catch {
            return error
        }
    }
}
