import QoSCore
import QoSSimulation
import QoSTesting
import Testing

@Suite("The admission simulation", .tags(.simulation))
struct AdmissionSimulationTests {
    /// Every disturbance with some seeds; 12 × 7 worlds.
    static let seeds: Range<UInt64> = 0..<12

    @Test(
        "C7 random worlds keep every invariant and agree with the oracle decision by decision",
        arguments: SimulatedWorld.Disturbance.allCases, seeds)
    func randomWorlds(_ disturbance: SimulatedWorld.Disturbance, _ seed: UInt64) {
        let world = SimulatedWorld(seed: seed, events: 250, disturbance: disturbance)
        if let report = failureReport(of: world, named: "seed \(seed), \(disturbance)", judgedBy: AdmissionOracle.init)
        {
            Issue.record(Comment(rawValue: report))
        }
    }

    @Test(
        "C7 random worlds of 64 and 256 cores keep every invariant and agree with the oracle decision by decision",
        arguments: [64, 256], 0..<3 as Range<UInt64>)
    func manyCores(_ cores: Int, _ seed: UInt64) {
        let world = SimulatedWorld(seed: seed, events: 80, disturbance: .everything, cores: cores, longestLoop: 4)
        if let report = failureReport(of: world, named: "seed \(seed), \(cores) cores", judgedBy: AdmissionOracle.init)
        {
            Issue.record(Comment(rawValue: report))
        }
    }

    @Test("The random worlds reach every rule")
    func coverage() throws {
        var sum = AdmissionCounters()
        for disturbance in SimulatedWorld.Disturbance.allCases {
            for seed in Self.seeds.prefix(6) {
                let world = SimulatedWorld(seed: seed, events: 250, disturbance: disturbance)
                var simulation = AdmissionSimulation(world, checksInvariants: false)
                try simulation.runToEnd()
                let counters = simulation.machine.counters
                #expect(counters.fencesLifted == counters.fencesRaised)
                sum.admissions += counters.admissions
                sum.parks += counters.parks
                sum.windows += counters.windows
                sum.fencesRaised += counters.fencesRaised
                sum.fencesHalved += counters.fencesHalved
            }
        }
        #expect(sum.admissions > 1_000)
        #expect(sum.parks > 100)
        #expect(sum.windows > 100)
        #expect(sum.fencesRaised > 50)
        #expect(sum.fencesHalved > 5)
    }

    @Test("The same world runs the same way")
    func deterministic() throws {
        let world = SimulatedWorld(seed: 3, events: 200, disturbance: .everything)
        var first = AdmissionSimulation(world, judgedBy: AdmissionOracle(world))
        var second = AdmissionSimulation(world, judgedBy: AdmissionOracle(world))
        try first.runToEnd()
        try second.runToEnd()
        #expect(first.now == second.now)
        #expect(first.machine.counters == second.machine.counters)
        #expect(first.results.coreTime == second.results.coreTime)
    }

    @Test("A failing world shrinks to a few events that still fail, and prints itself")
    func shrinks() throws {
        // With this slack any wait at all counts as a violation, so that a failure is certain.
        let slack = -Int64.max / 2
        let world = try #require(
            (0..<10 as Range<UInt64>).map { SimulatedWorld(seed: $0, events: 200, disturbance: .none) }
                .first { violation(of: $0, slack: slack) != nil })
        let smallest = shrink(world) { violation(of: $0, slack: slack) != nil }
        #expect(violation(of: smallest, slack: slack) != nil)
        #expect(smallest.script.count <= 3)
        for index in smallest.script.indices {
            var smaller = smallest
            smaller.script.remove(at: index)
            #expect(violation(of: smaller, slack: slack) == nil)
        }
        #expect(smallest.reproduction.hasPrefix("SimulatedWorld(cores: "))
        #expect(smallest.reproduction.contains("ScriptEvent(at: "))
    }

    @Test("An oracle with other rules disagrees")
    func oracleBites() throws {
        let world = SimulatedWorld(seed: 1, events: 200, disturbance: .none)
        var simulation = AdmissionSimulation(world, judgedBy: AdmissionOracle(world))
        simulation.judge = AdmissionOracle(cores: world.cores + 1, parameters: world.parameters)
        let error = #expect(throws: SimulationViolation.self) { try simulation.runToEnd() }
        #expect(error?.rule.contains("the oracle says") == true)
    }
}
