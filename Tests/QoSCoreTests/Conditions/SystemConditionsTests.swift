import Foundation
import QoSCore
import Testing

@Suite("The value of the conditions")
struct SystemConditionsTests {
    private var simulated: SystemConditions {
        var overrides = ConditionOverrides()
        overrides.thermal = .serious
        overrides.power = PowerState(source: .battery, batteryLevel: 0.5, lowPowerReasons: [.request])
        overrides.foreground = .delayed
        overrides.pressure = [.io: .severe]
        return overrides.applied(to: SystemConditions())
    }

    @Test("S1 S4 simulated states stand in for observed ones, and say so")
    func overrides() {
        #expect(simulated.thermal == Condition(.serious, because: "simulated"))
        #expect(simulated.power.state.batteryLevel == 0.5)
        #expect(simulated.foreground.state == .delayed)
        #expect(simulated[.io].state == .severe && !simulated[.cpu].isKnown)
        #expect(ConditionOverrides().applied(to: simulated) == simulated)
        #expect(SystemConditions().isNominal && !simulated.isNominal)
    }

    @Test("S4 each single state is not nominal")
    func single() {
        for kind in PressureKind.allCases {
            var conditions = SystemConditions()
            conditions[kind] = Condition(.elevated, because: "")
            #expect(!conditions.isNominal, "\(kind)")
        }
    }

    @Test("S1 S4 the coded form has names, and reads back")
    func coded() throws {
        let data = try JSONEncoder().encode(simulated)
        #expect(try JSONDecoder().decode(SystemConditions.self, from: data) == simulated)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#""state":"serious""#) && text.contains(#""io":{"#), "\(text)")
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ThermalState].self, from: Data(#"["hot"]"#.utf8))
        }
    }
}
