import ArgumentParser
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

    @Test("S1 all names are states, and a condition may stand before its state")
    func words() throws {
        var states: Set<ConditionOverrides> = []
        for name in ConditionOverrides.names {
            var overrides = ConditionOverrides()
            let isState = overrides.set(name)
            #expect(isState, "\(name)")
            states.insert(overrides)
        }
        #expect(states.count == 4 + 2 + ForegroundState.allCases.count + 3 * PressureKind.allCases.count)
        let found = try SimulatedState.states(in: ["thermal", "serious", "io=severe", "low-power", "on"])
        #expect(found.map(\.text) == ["thermal=serious", "io=severe", "low-power=on"])
        #expect(try SimulatedState.states(in: []).isEmpty)
    }

    @Test(
        "S1 words that are no state are refused with those that are",
        arguments: [["thermal"], ["thermal", "hot"], ["heat", "fair"], ["thermal=serious", "memory"], [""]])
    func refusesWords(words: [String]) {
        let error = #expect(throws: ValidationError.self) { try SimulatedState.states(in: words) }
        #expect(error?.message.contains("thermal=nominal, thermal=fair, thermal=serious") == true)
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
