import CQoSTestSupport
import Glibc
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import Testing

@Suite("The double that simulates rights")
struct SimulatedRightsTests {
    private static let cases: [(SimulatedSchedulingCalls.Rights, EffectMode, Set<EffectCapability>)] = [
        (.all, .privileged, []),
        (.limit(40), .privileged, [.timerSlackOfSibling]),
        (.limit(20), .reversible, [.niceBelowZero, .timerSlackOfSibling]),
        (.limit(19), .oneWay, [.niceUp, .niceBelowZero, .timerSlackOfSibling]),
        (.none, .oneWay, [.niceUp, .niceBelowZero, .idleOut, .timerSlackOfSibling]),
    ]

    @Test(
        "C6 is found in the mode that its rights give",
        arguments: cases)
    func mode(rights: SimulatedSchedulingCalls.Rights, mode: EffectMode, refused: Set<EffectCapability>) {
        let found = EffectProbe.run(calls: SimulatedSchedulingCalls(rights: rights))
        #expect(found.mode == mode)
        #expect(Set(found.refusals.keys) == refused)
    }

    @Test("C6 refuses what the kernel refuses, with the same calls and numbers", .tags(.kernel))
    func agreesWithTheKernel() throws {
        let real = try onThread { () -> EffectCapabilities? in
            // Otherwise the creator makes the probe's thread, and has the right.
            LibraryThreads.setRule(.ownClean)
            return cqos_test_drop_sys_nice() == 0 ? EffectProbe.run() : nil
        }
        let simulated = EffectProbe.run(calls: SimulatedSchedulingCalls(rights: .none))
        #expect(simulated.refusals.mapValues(Refusal.init) == real?.refusals.mapValues(Refusal.init))
    }

    @Test(
        "C6 a reversible process moves a thread up and down through every class",
        arguments: [SimulatedSchedulingCalls.Rights.all, .limit(20)])
    func upAndDown(rights: SimulatedSchedulingCalls.Rights) throws {
        let calls = SimulatedSchedulingCalls(rights: rights)
        let mode = EffectProbe.run(calls: calls).mode
        for spread in NiceSpread.allCases {
            let applier = EffectApplier(mode: mode, spread: spread, calls: calls)
            let all = try onThread {
                (QoSClass.descending + QoSClass.descending.reversed()).map { applier.apply($0) }
            }
            for applied in all {
                let effects = ClassEffects(applied.qosClass, mode: mode, spread: spread)
                #expect(applied.errors.isEmpty)
                #expect(applied.missing.isEmpty)
                #expect(
                    try applied.slice.readBack.get() == effects.slice ?? SimulatedSchedulingCalls.kernelsSlice)
            }
        }
    }

    @Test("gives a new thread what its creator had")
    func inherits() throws {
        let calls = SimulatedSchedulingCalls(rights: .none)
        let wanted = Scheduling(policy: .batch, nice: 7, slice: 1_000_000)
        let found = Box<Scheduling?>(nil)
        try Thread(name: "creator", calls: calls) {
            try? calls.setScheduling(wanted, of: .current)
            try? Thread(name: "child", calls: calls) {
                let inherited = try? calls.scheduling(of: .current)
                found.update { $0 = inherited }
            }.join()
        }.join()
        #expect(found.value == wanted)
    }

    /// A refusal without the thread it was about.
    private struct Refusal: Equatable {
        let call: KernelCall
        let code: Int32

        init(_ error: KernelError) {
            call = error.call
            code = error.code
        }
    }
}
