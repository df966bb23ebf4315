import QoSCore
import Testing

@Suite("The admission simulation", .tags(.simulation))
struct AdmissionSimulationTests {
    @Test(
        "C7 random worlds keep every invariant and agree with the oracle",
        arguments: SimulatedWorld.Disturbance.allCases)
    func randomWorlds(_ disturbance: SimulatedWorld.Disturbance) {
        for seed in 0..<20 as Range<UInt64> {
            let world = SimulatedWorld(seed: seed, events: 300, disturbance: disturbance)
            if let report = failureReport(of: world, named: "seed \(seed), \(disturbance)") {
                Issue.record(Comment(rawValue: report))
            }
        }
    }
}
