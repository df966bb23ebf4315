import QoSCore
import Testing

@Suite("The judgement of heat")
struct ThermalJudgementTests {
    /// A zone or a cooling device, and the states by the thresholds for a rise and for a fall.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reading: ThermalReading
        let rising: ThermalState
        let falling: ThermalState

        init(_ name: String, _ reading: ThermalReading, _ rising: ThermalState, _ falling: ThermalState) {
            (testDescription, self.reading, self.rising, self.falling) = (name, reading, rising, falling)
        }

        static let all: [Case] = [
            Case("nothing", ThermalReading(), .nominal, .nominal),
            Case("no trip point", zone(250), .nominal, .nominal),
            Case("cool", zone(50, passive: 95, critical: 105), .nominal, .nominal),
            Case("just below fair", zone(89.9, passive: 95, critical: 105), .nominal, .fair),
            Case("fair", zone(90, passive: 95, critical: 105), .fair, .fair),
            Case("just below serious", zone(94.9, passive: 95, critical: 105), .fair, .serious),
            Case("serious at the passive trip point", zone(95, passive: 95, critical: 105), .serious, .serious),
            Case("critical below the critical trip point", zone(100, passive: 95, critical: 105), .critical, .critical),
            Case("critical at the hot trip point", zone(97, passive: 95, hot: 97, critical: 110), .critical, .critical),
            Case("critical alone: fair", zone(85, critical: 105), .fair, .fair),
            Case("critical alone: serious", zone(95, critical: 105), .serious, .serious),
            Case("critical alone: critical", zone(105, critical: 105), .critical, .critical),
            Case("passive alone", zone(200, passive: 95), .serious, .serious),
            Case("below zero", zone(-20, passive: 95, critical: 105), .nominal, .nominal),
            Case("the hottest zone counts", both(zone(50, critical: 105), zone(95, passive: 90)), .serious, .serious),
            Case("cooling a little", cooling(0.2), .nominal, .fair),
            Case("cooling", cooling(0.25), .fair, .fair),
            Case("cooling a lot", cooling(0.75), .serious, .serious),
            Case("cooling fully", cooling(1), .serious, .serious),
        ]

        private static func zone(
            _ temperature: Double, passive: Double? = nil, hot: Double? = nil, critical: Double? = nil
        ) -> ThermalReading {
            ThermalReading(zones: [
                ThermalReading.Zone(
                    name: "cpu", temperature: temperature, passive: passive, hot: hot, critical: critical)
            ])
        }

        private static func both(_ left: ThermalReading, _ right: ThermalReading) -> ThermalReading {
            ThermalReading(zones: left.zones + right.zones)
        }

        private static func cooling(_ use: Double) -> ThermalReading {
            ThermalReading(cooling: [ThermalReading.Cooling(name: "Processor", use: use)])
        }
    }

    @Test("S1 trip points and cooling devices give the state", arguments: Case.all)
    func judges(found: Case) {
        #expect(found.reading.judgement(isFalling: false).state == found.rising)
        #expect(found.reading.judgement(isFalling: true).state == found.falling)
    }

    @Test("S1 the reason names zone, temperature and threshold")
    func names() {
        let reading = ThermalReading(zones: [.init(name: "x86_pkg_temp", temperature: 97.2, passive: 95)])
        #expect(
            reading.judgement(isFalling: false).reason == "x86_pkg_temp has 97 °C, and serious begins at 95 °C")
    }
}
