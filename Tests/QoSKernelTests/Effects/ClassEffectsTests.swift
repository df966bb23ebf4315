import QoSCore
import QoSKernel
import Testing

@Suite("The table of effects")
struct ClassEffectsTests {
    /// One column of the table, as the documentation has it.
    struct Column: Sendable {
        let qosClass: QoSClass
        let slice: UInt64?
        let ioPriority: IOPriority
        let timerSlack: UInt64
        /// Privileged and own group, privileged, own group, polite; IDLE where there is none.
        let policies: [SchedulingPolicy]
        let nices: [Int?]
    }

    static let table = [
        Column(
            qosClass: .userInteractive, slice: 100_000, ioPriority: .bestEffort(level: 0), timerSlack: 1_000,
            policies: [.other, .other, .other, .other], nices: [-8, -12, 0, 0]),
        Column(
            qosClass: .userInitiated, slice: 500_000, ioPriority: .bestEffort(level: 2), timerSlack: 50_000,
            policies: [.other, .other, .other, .other], nices: [-4, -8, 0, 0]),
        Column(
            qosClass: .default, slice: 500_000, ioPriority: .bestEffort(level: 4), timerSlack: 50_000,
            policies: [.other, .other, .other, .other], nices: [17, 0, 17, 3]),
        Column(
            qosClass: .utility, slice: 500_000, ioPriority: .bestEffort(level: 6), timerSlack: 5_000_000,
            policies: [.batch, .batch, .batch, .batch], nices: [18, 10, 18, 10]),
        Column(
            qosClass: .background, slice: 500_000, ioPriority: .idle, timerSlack: 75_000_000,
            policies: [.batch, .idle, .batch, .batch], nices: [19, nil, 19, 19]),
    ]

    @Test("C6 is as documented", arguments: table)
    func isTheTable(column: Column) {
        for mode in EffectMode.allCases {
            for spread in NiceSpread.allCases {
                let row = (mode == .privileged ? 0 : 2) + (spread == .own ? 0 : 1)
                let effects = ClassEffects(column.qosClass, mode: mode, spread: spread)
                #expect(effects.policy == column.policies[row])
                #expect(effects.nice == column.nices[row])
                // The kernel preempts a thread of IDLE at once, whatever its slice.
                #expect(effects.slice == (effects.policy == .idle ? nil : column.slice))
                #expect(effects.ioPriority == column.ioPriority)
                #expect(effects.timerSlack == column.timerSlack)
                #expect(effects.scheduling.policy == effects.policy)
                #expect(effects.scheduling.slice == effects.slice)
            }
        }
    }

    @Test("C7 never favours a lower class", arguments: EffectMode.allCases, NiceSpread.allCases)
    func isOrdered(mode: EffectMode, spread: NiceSpread) {
        let effects = QoSClass.descending.map { ClassEffects($0, mode: mode, spread: spread) }
        for (higher, lower) in zip(effects, effects.dropFirst()) {
            #expect(higher.nice ?? 20 <= lower.nice ?? 20)
            #expect(higher.timerSlack <= lower.timerSlack)
        }
    }

    @Test("C6 tells what would improve every mode but the best", arguments: EffectMode.allCases)
    func tellsWhatWouldImprove(mode: EffectMode) {
        #expect((mode.improvement == nil) == (mode == .privileged))
    }
}
