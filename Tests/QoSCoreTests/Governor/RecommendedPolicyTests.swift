import QoSCore
import Testing

@Suite("The recommended policy")
struct RecommendedPolicyTests {
    private func decision(_ set: (inout ConditionOverrides) -> Void) -> GovernorDecision {
        var overrides = ConditionOverrides()
        set(&overrides)
        return RecommendedPolicy().decision(for: overrides.applied(to: SystemConditions())).clamped()
    }

    @Test("S2 nominal conditions limit nothing, and give no reason")
    func nominal() {
        #expect(decision { _ in } == GovernorDecision())
        #expect(GovernorDecision().isUnlimited)
    }

    /// The permissions from userInteractive to background.
    static let heat: [(ThermalState, [WorkPermission])] = [
        (.nominal, [.run, .run, .run, .run, .run]),
        (.fair, [.run, .run, .run, .deferDiscretionary, .deferDiscretionary]),
        (.serious, [.run, .run, .deferDiscretionary, .deferDiscretionary, .stop]),
        (.critical, [.run, .deferDiscretionary, .deferDiscretionary, .stop, .stop]),
    ]

    @Test("S2 heat stops optional work first, and everything but answers in the end", arguments: heat)
    func permissions(state: ThermalState, expected: [WorkPermission]) {
        let found = decision { $0.thermal = state }
        #expect(QoSClass.descending.map { found[$0].permission } == expected)
    }

    @Test("S2 more heat never loosens a limit, and a higher class is never tighter than a lower one")
    func isMonotone() {
        let all = ThermalState.allCases.map { state in decision { $0.thermal = state } }
        for (cooler, hotter) in zip(all, all.dropFirst()) {
            for qosClass in QoSClass.allCases where hotter[qosClass].permission < .stop {
                #expect(cooler[qosClass].restricted(to: hotter[qosClass]).hasSameLimits(as: hotter[qosClass]))
            }
        }
        for found in all {
            for (higher, lower) in zip(QoSClass.descending, QoSClass.descending.dropFirst()) {
                #expect(found[higher].restricted(to: found[lower]).hasSameLimits(as: found[lower]))
            }
        }
    }

    @Test("S3 low-power mode stops background work and puts discretionary work off")
    func lowPower() {
        let found = decision { $0.power = PowerState(lowPowerReasons: [.request]) }
        #expect(found[.background].permission == .stop && found[.background].workers(onProcessors: 8) == 0)
        #expect(found[.utility].permission == .deferDiscretionary && found[.utility].workers(onProcessors: 8) == 4)
        #expect(found[.default].permission == .deferDiscretionary)
        #expect(found[.userInitiated].isUnlimited && found[.userInteractive].isUnlimited)
        #expect(found[.background].reasons == ["low-power mode: simulated"])
    }

    @Test(
        "S4 each shortage limits background work, and neither of the two high classes", arguments: PressureKind.allCases
    )
    func shortages(kind: PressureKind) {
        for state in [PressureState.elevated, .severe] {
            let found = decision { $0.pressure = [kind: state] }
            #expect(!found[.background].isUnlimited)
            #expect(found[.background].reasons == ["\(kind.rawValue) \(state): simulated"])
            #expect(found[.userInitiated].isUnlimited && found[.userInteractive].isUnlimited)
        }
    }

    @Test("C7 S4 busy processors and delayed requests stop no class", arguments: PressureState.allCases)
    func keepsSome(state: PressureState) {
        let found = decision {
            $0.pressure = [.cpu: state, .steal: state, .throttling: state, .io: state]
            $0.foreground = .delayed
        }
        for qosClass in QoSClass.allCases {
            #expect(found[qosClass].permission < .stop && found[qosClass].duty > 0)
            #expect(found[qosClass].workers(onProcessors: 1) != 0)
        }
    }

    @Test("S2 S4 of several limits the tightest of each kind counts, with all reasons")
    func combines() {
        let found = decision {
            $0.thermal = .fair
            $0.pressure = [.io: .severe]
            $0.foreground = .delayed
        }
        let background = found[.background]
        #expect(background.workers(onProcessors: 8) == 1 && background.workers(onProcessors: 1) == 1)
        #expect(background.duty == 0.25)
        #expect(background.ioBytesPerSecond == 2 << 20)
        #expect(background.reasons.count == 3)
        #expect(
            background.description
                == "deferDiscretionary, at most 1 processor, 50 % of the processors, duty 25 %, 2097152 bytes/s, "
                + "25 operations/s")
    }
}
