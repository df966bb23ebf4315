import QoSCore
import Testing

@testable import qosctl

@Suite("qosctl conditions")
struct SimulatedStateTests {
    @Test("S1 S3 S4 simulated states are read from arguments")
    func reads() throws {
        var overrides = ConditionOverrides()
        for argument in ["thermal=serious", "low-power=on", "requests=delayed", "memory=severe", "io=elevated"] {
            try #require(SimulatedState(argument: argument)).apply(to: &overrides)
        }
        #expect(overrides.thermal == .serious && overrides.power?.isLowPowerMode == true)
        #expect(overrides.foreground == .delayed && overrides.pressure == [.memory: .severe, .io: .elevated])
    }

    @Test(
        "S1 others are refused",
        arguments: ["", "thermal", "thermal=", "thermal=hot", "=serious", "low-power=yes", "heat=fair", "memory=fair"])
    func refuses(argument: String) {
        #expect(SimulatedState(argument: argument) == nil)
    }

    @Test("S2 the text has each condition, each class and the reasons")
    func text() {
        var overrides = ConditionOverrides()
        overrides.thermal = .serious
        let report = ConditionsReport(
            conditions: overrides.applied(to: SystemConditions()), policy: RecommendedPolicy())
        #expect(report.lines.contains("  thermal         serious: simulated"))
        #expect(report.lines.contains("  cpu             nominal, unknown: not read yet"))
        #expect(report.lines.contains("  background      stop, 50 % of the processors, duty 50 %"))
        #expect(report.lines.contains("                  because thermal state serious: simulated"))
    }
}
