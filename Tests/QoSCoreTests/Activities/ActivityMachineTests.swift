import QoSCore
import Testing

@Suite("The machine of an activity")
struct ActivityMachineTests {
    private func machine(_ world: ActivityWorld, _ change: (inout BackgroundActivity) -> Void = { _ in })
        -> ActivityMachine
    {
        var activity = BackgroundActivity("a", .every(.seconds(100), tolerance: .seconds(20)), runLimit: .seconds(10))
        activity.deferralLimit = .seconds(3)
        change(&activity)
        return ActivityMachine(activity, at: world.reading)
    }

    @Test("S5 a run begins when it is due and nothing stands against it, and the look says when to come back")
    func begins() {
        var world = ActivityWorld()
        var machine = machine(world)
        var step = machine.looked(at: world.reading, obstacle: nil)
        #expect(step.next == 100_000_000_000 && step.tolerance == 2_500_000_000 && !step.begins)
        world.pass(100_000)
        step = machine.looked(at: world.reading, obstacle: nil)
        #expect(step.begins && step.next == 10_000_000_000)
        #expect(machine.phase(at: world.reading) == .runs(nanoseconds: 0, deferral: nil))
    }

    @Test("S5 with bad conditions it waits with their reason, and runs late when they are good")
    func waits() {
        var world = ActivityWorld()
        var machine = machine(world)
        world.pass(100_000)
        #expect(!machine.looked(at: world.reading, obstacle: "hot").begins)
        #expect(machine.phase(at: world.reading) == .waitsForConditions("hot"))
        world.pass(50_000)
        #expect(!machine.looked(at: world.reading, obstacle: "hot").begins)
        #expect(machine.looked(at: world.reading, obstacle: nil).begins)
    }

    @Test("S5 an obstacle during a run asks it once to defer, and the request stays")
    func defers() {
        var world = ActivityWorld()
        var machine = machine(world)
        world.pass(100_000)
        _ = machine.looked(at: world.reading, obstacle: nil)
        #expect(machine.looked(at: world.reading, obstacle: "hot").defers == "hot")
        #expect(machine.looked(at: world.reading, obstacle: "hot").defers == nil)
        #expect(machine.looked(at: world.reading, obstacle: nil).defers == nil)
        #expect(machine.phase(at: world.reading) == .runs(nanoseconds: 0, deferral: "hot"))
        machine.ended(.deferred, at: world.reading)
        #expect(machine.looked(at: world.reading, obstacle: nil).next == 6_250_000_000)
        world.pass(6_250)
        #expect(machine.looked(at: world.reading, obstacle: nil).begins)
        machine.ended(.finished, at: world.reading)
        #expect(machine.endings == 2 && machine.lastEnding == .finished)
        #expect(machine.looked(at: world.reading, obstacle: nil).next == 93_750_000_000)
    }

    @Test("S5 a run over its limit is asked to defer and reported; one that goes on all the same is reported again")
    func limits() {
        var world = ActivityWorld()
        var machine = machine(world)
        world.pass(100_000)
        _ = machine.looked(at: world.reading, obstacle: nil)
        world.pass(10_000)
        var step = machine.looked(at: world.reading, obstacle: nil)
        #expect(step.overrun == .runLimit && step.defers == "the run exceeds its limit" && step.next == 3_000_000_000)
        world.pass(3_000)
        step = machine.looked(at: world.reading, obstacle: nil)
        #expect(step.overrun == .deferralLimit && step.defers == nil && step.next == nil)
        world.pass(1_000_000)
        step = machine.looked(at: world.reading, obstacle: nil)
        #expect(step.overrun == nil && step.next == nil)
    }

    @Test("S5 a run that ignores a request to defer is reported, also when both limits have passed at one look")
    func bothLimits() {
        var world = ActivityWorld()
        var machine = machine(world)
        world.pass(100_000)
        _ = machine.looked(at: world.reading, obstacle: nil)
        #expect(machine.looked(at: world.reading, obstacle: "hot").next == 3_000_000_000)
        world.pass(60_000)
        #expect(machine.looked(at: world.reading, obstacle: "hot").overrun == .runLimit)
        #expect(machine.looked(at: world.reading, obstacle: "hot").overrun == .deferralLimit)
        #expect(machine.looked(at: world.reading, obstacle: "hot").overrun == nil)
    }

    @Test("S5 conditions and the governor's permission keep an activity from running, with their reasons")
    func obstacles() {
        var activity = BackgroundActivity("a", .once(), qosClass: .utility)
        activity.conditions = [
            .onMainsPower, .thermal(atMost: .nominal), .pressure(.freeDisk, atMost: .elevated), .requestsInTime,
        ]
        var conditions = SystemConditions()
        #expect(activity.obstacle(in: conditions, GovernorDecision()) == nil)
        conditions.power = Condition(PowerState(source: .battery), because: "unplugged")
        conditions.thermal = Condition(.fair, because: "warm")
        conditions[.freeDisk] = Condition(.severe, because: "1 % left")
        conditions.foreground = Condition(.delayed, because: "slow")
        #expect(
            activity.obstacle(in: conditions, GovernorDecision())
                == "the machine runs on a battery; thermal state fair: warm; freeDisk severe: 1 % left; requests delayed: slow"
        )
        conditions = SystemConditions()
        conditions.thermal = Condition(.serious, because: "97 °C")
        let decision = RecommendedPolicy().decision(for: conditions)
        #expect(
            activity.obstacle(in: conditions, decision)
                == "discretionary work at utility waits: thermal state serious: 97 °C")
        activity.qosClass = .background
        #expect(
            activity.obstacle(in: conditions, decision) == "background is stopped: thermal state serious: 97 °C")
    }
}
