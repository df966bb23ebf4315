import CQoSTestSupport
import Glibc
import QoSKernel
import QoSKernelTestSupport
import Testing

@Suite("The probe", .tags(.kernel), .serialized)
struct EffectProbeTests {
    @Test("C6 leaves the calling thread as it was")
    func leavesTheCaller() throws {
        let same = try onThread {
            let before = ThreadState(of: .current)
            _ = EffectProbe.run()
            let after = ThreadState(of: .current)
            return before == after
        }
        #expect(same)
    }

    @Test("C6 finds a process that may raise privileged, with everything allowed", .enabled(if: Privilege.siblings))
    func findsPrivileged() {
        let found = EffectProbe.run()
        #expect(found.mode == .privileged)
        #expect(found.refusals.isEmpty, "\(found.refusals)")
    }

    @Test("C6 finds an unprivileged process one-way, with all but four things allowed", .disabled(if: Privilege.nice))
    func findsOneWay() {
        expectOneWay(EffectProbe.run())
    }

    @Test("C6 finds a process one-way that lost CAP_SYS_NICE", .enabled(if: Privilege.siblings))
    func findsOneWayAfterALoss() throws {
        expectOneWay(try probeWithoutCapability(niceLimit: 0))
    }

    @Test("C6 finds a process with RLIMIT_NICE 20 reversible", .enabled(if: Privilege.siblings && Privilege.niceLimit))
    func findsReversible() throws {
        let found = try probeWithoutCapability(niceLimit: 20)
        #expect(found.mode == .reversible)
        #expect(Set(found.refusals.keys) == [.niceBelowZero, .timerSlackOfSibling])
    }

    @Test(
        "C6 finds a process with RLIMIT_NICE 40 privileged in effect",
        .enabled(if: Privilege.siblings && Privilege.niceLimit))
    func findsPrivilegedByLimit() throws {
        let found = try probeWithoutCapability(niceLimit: 40)
        #expect(found.mode == .privileged)
        #expect(Set(found.refusals.keys) == [.timerSlackOfSibling])
    }

    @Test("C6 finds a process denied whose every call is refused", arguments: [EPERM, ENOSYS, EINVAL, ESRCH])
    func findsDenied(code: Int32) {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(KernelCall.allCases.filter { $0 != .createThread }, with: code)
        let found = EffectProbe.run(calls: calls)
        #expect(found.mode == .denied)
        #expect(Set(found.refusals.keys) == Set(EffectCapability.allCases))
        #expect(found.refusals.values.allSatisfy { $0.code == code })
    }

    @Test("C6 finds everything refused when not even a thread can be made")
    func survivesAMissingThread() {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.createThread, with: EAGAIN)
        let found = EffectProbe.run(calls: calls)
        #expect(found.mode == .denied)
        #expect(found.refusals[.niceDown]?.call == .createThread)
    }

    @Test("C6 uses setpriority where sched_setattr is denied: nice is left, IDLE is not")
    func fallsBackToNice() {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.setScheduling, with: ENOSYS)
        let found = EffectProbe.run(calls: calls)
        #expect(found.mode == .oneWay)
        #expect(found.allows(.niceDown))
        #expect(!found.allows(.idleIn))
        #expect(found.refusals[.idleOut]?.code == ENOSYS)
    }

    @Test(
        "C6 reports one refused knob alone",
        arguments: [
            (KernelCall.setIOPriority, EffectCapability.ioPriority), (.setOwnTimerSlack, .timerSlack),
            (.setAffinity, .affinity), (.getAffinity, .affinity),
        ])
    func reportsOneKnob(call: KernelCall, capability: EffectCapability) {
        let usual = EffectProbe.run()
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(call, with: EPERM)
        let found = EffectProbe.run(calls: calls)
        #expect(found.mode == usual.mode)
        #expect(Set(found.refusals.keys).subtracting(usual.refusals.keys) == [capability])
    }

    private func expectOneWay(_ found: EffectCapabilities) {
        #expect(found.mode == .oneWay)
        #expect(
            Set(found.refusals.keys) == [.niceUp, .niceBelowZero, .idleOut, .timerSlackOfSibling],
            "\(found.refusals)")
    }

    /// Probes on a thread without CAP_SYS_NICE, under a limit that the process has meanwhile.
    private func probeWithoutCapability(niceLimit: rlim_t) throws -> EffectCapabilities {
        var before = rlimit()
        try #require(unsafe getrlimit(Privilege.niceResource, &before) == 0)
        var limit = rlimit(rlim_cur: niceLimit, rlim_max: before.rlim_max)
        try #require(unsafe setrlimit(Privilege.niceResource, &limit) == 0)
        defer { unsafe setrlimit(Privilege.niceResource, &before) }
        let found = try onThread {
            // Otherwise the creator makes the probe's thread, and has the right.
            LibraryThreads.setRule(.ownClean)
            return cqos_test_drop_sys_nice() == 0 ? EffectProbe.run() : nil
        }
        return try #require(found)
    }
}
