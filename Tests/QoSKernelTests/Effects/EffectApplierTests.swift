import CQoSTestSupport
import Glibc
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import Testing

@Suite("Applying effects", .tags(.kernel))
struct EffectApplierTests {
    /// The scheduling of an untouched thread of this process.
    private static let untouched = try? onThread { ThreadState(of: .current) }
    private static let mode = EffectProbe.run().mode

    @Test(
        "C6 gives a fresh thread exactly its class's values, as /proc shows them",
        arguments: QoSClass.descending, NiceSpread.allCases)
    func freshThread(qosClass: QoSClass, spread: NiceSpread) throws {
        let applier = EffectApplier(mode: Self.mode, spread: spread)
        let (applied, shown) = try onThread {
            let applied = applier.apply(qosClass)
            return (applied, Result { try ProcStat(of: .current) })
        }
        try expectExactly(applied, ClassEffects(qosClass, mode: Self.mode, spread: spread))
        #expect(try shown.get().policy == applied.policy.readBack.get().number)
        #expect(try shown.get().nice == applied.nice.readBack.get())
    }

    @Test(
        "C6 replaces whatever the thread inherited, unprivileged too", arguments: QoSClass.descending,
        [true, false])
    func inherited(qosClass: QoSClass, keepsCapability: Bool) throws {
        // Without the capability a higher nice value stays, so the creator's is changed only with it.
        let privileged = Privilege.nice && keepsCapability
        let mode: EffectMode = privileged ? Self.mode : .oneWay
        let applier = EffectApplier(mode: mode, spread: .own)
        let applied = try onThread { () -> Result<AppliedEffects, any Error> in
            Result {
                let calls = LinuxSchedulingCalls()
                let nice = privileged ? 12 : try calls.nice(of: .current)
                try calls.setScheduling(Scheduling(policy: .batch, nice: nice, slice: 20_000_000), of: .current)
                try calls.setIOPriority(.bestEffort(level: 7), of: .current)
                try calls.setTimerSlack(nanoseconds: 1_000_000, of: .current)
                if !privileged { try #require(cqos_test_drop_sys_nice() == 0) }
                return try onThread { applier.apply(qosClass) }
            }
        }
        try expectExactly(applied.get(), ClassEffects(qosClass, mode: mode, spread: .own))
    }

    @Test("C6 keeps the other knobs when nice is one-way, and records the refusal")
    func oneWayNice() throws {
        let applier = EffectApplier(mode: .oneWay, spread: .own)
        let applied = try onThread { () -> Result<AppliedEffects, any Error> in
            Result {
                try LinuxSchedulingCalls().setNice(19, of: .current)
                try #require(cqos_test_drop_sys_nice() == 0)
                return applier.apply(.userInteractive)
            }
        }.get()
        #expect(applied.missing == [.nice])
        #expect(applied.errors[.nice]?.code == EACCES)
        #expect(Set(applied.errors.keys) == [.nice])
        #expect(try applied.nice.readBack.get() == 19)
        #expect(try applied.slice.readBack.get() == 100_000)
    }

    @Test("C6 keeps the other knobs when IDLE cannot be left, and records the refusal")
    func oneWayIdle() throws {
        let applier = EffectApplier(mode: .oneWay, spread: .own)
        let applied = try onThread { () -> Result<AppliedEffects, any Error> in
            Result {
                try LinuxSchedulingCalls().setScheduling(Scheduling(policy: .idle), of: .current)
                try #require(cqos_test_drop_sys_nice() == 0)
                return applier.apply(.utility)
            }
        }.get()
        #expect(applied.missing == [.policy, .slice])
        #expect(applied.errors[.policy]?.code == EPERM)
        #expect(try applied.policy.readBack.get() == .idle)
        #expect(try applied.nice.readBack.get() == 18)
    }

    @Test(
        "C6 records a refused knob and sets the others",
        arguments: [
            (KernelCall.setIOPriority, EffectKnob.ioPriority), (.setOwnTimerSlack, .timerSlack),
        ], QoSClass.descending)
    func oneRefusal(fault: (call: KernelCall, knob: EffectKnob), qosClass: QoSClass) throws {
        for code in [EPERM, EINVAL, ESRCH] {
            let calls = FaultInjectingSchedulingCalls()
            calls.deny(fault.call, with: code)
            let applier = EffectApplier(mode: Self.mode, spread: .own, calls: calls)
            let applied = try onThread { applier.apply(qosClass) }
            #expect(Set(applied.errors.keys) == [fault.knob])
            #expect(applied.errors[fault.knob]?.code == code)
            #expect(applied.missing.isSubset(of: [fault.knob]))
        }
    }

    @Test("C6 takes the last nice value where IDLE is refused")
    func idleRefused() throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.setScheduling, with: EPERM)
        let applier = EffectApplier(mode: .oneWay, spread: .own, calls: calls)
        let applied = try onThread { applier.apply(.background) }
        #expect(applied.missing == [.policy, .slice])
        #expect(applied.errors[.policy]?.call == .setScheduling)
        #expect(applied.nice.asked == 19)
        #expect(try applied.nice.readBack.get() == 19)
    }

    @Test("C6 uses setpriority for nice where sched_setattr is denied")
    func attributesRefused() throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.setScheduling, with: ENOSYS)
        let applier = EffectApplier(mode: .oneWay, spread: .own, calls: calls)
        let applied = try onThread { applier.apply(.utility) }
        #expect(applied.missing == [.policy, .slice])
        #expect(Set(applied.errors.keys) == [.policy, .slice])
        #expect(try applied.nice.readBack.get() == 18)
    }

    @Test("C6 records everything when everything is refused", arguments: QoSClass.descending)
    func allRefused(qosClass: QoSClass) throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(KernelCall.allCases.filter { $0 != .createThread }, with: EPERM)
        let applier = EffectApplier(mode: .denied, spread: .own, calls: calls)
        let applied = try onThread { applier.apply(qosClass) }
        #expect(Set(applied.errors.keys) == Set(EffectKnob.allCases))
        #expect(applied.missing.isSuperset(of: [.policy, .nice, .ioPriority, .timerSlack]))
    }

    @Test("C6 raises and lowers a sibling", .enabled(if: Privilege.siblings))
    func sibling() throws {
        let applier = EffectApplier(mode: .privileged, spread: .own)
        try onIdleThread { thread in
            for qosClass in QoSClass.descending.reversed() + QoSClass.descending {
                let applied = applier.apply(qosClass, to: thread)
                try expectExactly(applied, ClassEffects(qosClass, mode: .privileged, spread: .own))
            }
        }
    }

    /// Nothing refused, nothing different, and the slice that was not asked for is an untouched thread's.
    private func expectExactly(
        _ applied: AppliedEffects, _ effects: ClassEffects, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(applied.errors.isEmpty, "\(applied.errors)", sourceLocation: sourceLocation)
        #expect(applied.missing.isEmpty, "\(applied)", sourceLocation: sourceLocation)
        #expect(try applied.policy.readBack.get() == effects.policy, sourceLocation: sourceLocation)
        if let nice = effects.nice {
            #expect(try applied.nice.readBack.get() == nice, sourceLocation: sourceLocation)
        }
        let kernels = try Self.untouched?.scheduling.get().slice
        #expect(try applied.slice.readBack.get() == effects.slice ?? kernels, sourceLocation: sourceLocation)
        #expect(try applied.ioPriority.readBack.get() == effects.ioPriority, sourceLocation: sourceLocation)
        #expect(try applied.timerSlack.readBack.get() == effects.timerSlack, sourceLocation: sourceLocation)
    }
}
