import QoSCore
import QoSTesting
import Testing

@Suite("The governor over time")
struct GovernorMachineTests {
    private func conditions(_ set: (inout ConditionOverrides) -> Void) -> SystemConditions {
        var overrides = ConditionOverrides()
        set(&overrides)
        return overrides.applied(to: SystemConditions())
    }

    @Test("S2 a tighter answer counts at once, a looser one when it has lasted")
    func holds() {
        var machine = GovernorMachine(policy: RecommendedPolicy(), hold: .seconds(2))
        #expect(machine.observe(conditions { $0.thermal = .serious }, at: second(0))[.background].permission == .stop)
        #expect(machine.observe(SystemConditions(), at: second(1))[.background].permission == .stop)
        #expect(machine.observe(SystemConditions(), at: second(2.9))[.background].permission == .stop)
        #expect(machine.observe(SystemConditions(), at: second(3)).isUnlimited)
        #expect(machine.decision.description.contains("background: no limit\n") == false)
        #expect(machine.decision == GovernorDecision(), "no reason is left behind")
    }

    @Test("S2 a restriction that comes back in between starts the time again, and changes nothing")
    func comesBack() {
        var machine = GovernorMachine(policy: RecommendedPolicy(), hold: .seconds(2))
        let first = machine.observe(conditions { $0.thermal = .serious }, at: second(0))
        for time in 1...20 {
            let state: ThermalState = time.isMultiple(of: 2) ? .serious : .nominal
            #expect(machine.observe(conditions { $0.thermal = state }, at: second(Double(time))) == first)
        }
    }

    @Test("S2 what is both tighter and looser is tightened at once and loosened later")
    func mixed() {
        var machine = GovernorMachine(policy: RecommendedPolicy(), hold: .seconds(2))
        let busy = conditions { $0.pressure = [.io: .severe] }
        let hot = conditions { $0.thermal = .serious }
        machine.observe(busy, at: second(0))
        let both = machine.observe(hot, at: second(1))[.background]
        #expect(both.permission == .stop && both.ioOperationsPerSecond == 25)
        let later = machine.observe(hot, at: second(3))[.background]
        #expect(later.permission == .stop && later.ioOperationsPerSecond == nil)
        #expect(later.reasons.count == 1)
    }

    @Test("S2 a policy that stops everything does not stop userInteractive")
    func clamps() {
        struct StopAll: GovernorPolicy {
            func decision(for conditions: SystemConditions) -> GovernorDecision {
                var decision = GovernorDecision()
                decision.restrict(from: .userInteractive, because: "all") { $0.permission = .stop }
                return decision
            }
        }
        var machine = GovernorMachine(policy: StopAll())
        let found = machine.observe(SystemConditions(), at: second(0))
        #expect(found[.userInteractive].permission == .deferDiscretionary)
        #expect(found[.userInitiated].permission == .stop)
    }

    /// Random conditions that change now and then.
    private func change(_ overrides: inout ConditionOverrides, _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: overrides.thermal = ThermalState.allCases.randomElement(using: &random)
        case 1: overrides.power = PowerState(lowPowerReasons: Bool.random(using: &random) ? [.request] : [])
        case 2: overrides.foreground = ForegroundState.allCases.randomElement(using: &random)
        case 3: overrides = ConditionOverrides()
        default:
            guard let kind = PressureKind.allCases.randomElement(using: &random) else { return }
            overrides.pressure[kind] = PressureState.allCases.randomElement(using: &random)
        }
    }

    @Test(
        "S2 S4 whatever comes: at most two changes of a class for each change of conditions, no limit is lost, none flaps",
        arguments: 0..<48 as Range<UInt64>)
    func isStable(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let hold = Int64.random(in: 1...5, using: &random) * 1_000_000_000
        var machine = GovernorMachine(policy: RecommendedPolicy(), hold: .nanoseconds(hold))
        var overrides = ConditionOverrides()
        var (time, inputs) = (Int64(0), 0)
        var changes = Array(repeating: 0, count: QoSClass.allCases.count)
        // The last time at which the policy asked for a limit that is in force.
        var lastTightened = Array(repeating: Int64.min / 2, count: QoSClass.allCases.count)
        var before = machine.decision
        for _ in 0..<1_500 {
            time += Int64.random(in: 1_000_000...1_500_000_000, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                let old = overrides
                change(&overrides, &random)
                if overrides != old { inputs += 1 }
            }
            let conditions = overrides.applied(to: SystemConditions())
            let answer = RecommendedPolicy().decision(for: conditions).clamped()
            let after = machine.observe(conditions, at: SchedulerInstant(nanoseconds: time))
            for qosClass in QoSClass.allCases {
                let (old, new, asked) = (before[qosClass], after[qosClass], answer[qosClass])
                #expect(new.restricted(to: asked).hasSameLimits(as: new), "seed \(seed): a limit is missing")
                if !new.hasSameLimits(as: old) { changes[qosClass.rank] += 1 }
                let isLooser = !old.restricted(to: new).hasSameLimits(as: new)
                if isLooser {
                    #expect(time - lastTightened[qosClass.rank] >= hold, "seed \(seed): loosened too early")
                }
                let isTighter = !new.restricted(to: old).hasSameLimits(as: old)
                if isTighter { lastTightened[qosClass.rank] = time }
            }
            before = after
        }
        for count in changes { #expect(count <= 2 * inputs, "seed \(seed): \(changes) for \(inputs)") }
        for step in 1...3 {
            time += hold
            machine.observe(SystemConditions(), at: SchedulerInstant(nanoseconds: time + Int64(step)))
        }
        #expect(machine.decision == GovernorDecision(), "seed \(seed): not back to normal")
    }
}
