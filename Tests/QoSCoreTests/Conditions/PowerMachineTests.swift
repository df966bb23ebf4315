import QoSCore
import Testing

@Suite("Low-power mode")
struct PowerMachineTests {
    private func battery(_ level: Double, isOnMains: Bool? = false) -> Reading<PowerReading> {
        .known(PowerReading(isOnMains: isOnMains, isDischarging: isOnMains != true, batteryLevel: level))
    }

    private func reasons(
        _ machine: inout PowerMachine, _ reading: Reading<PowerReading>, _ time: Double
    ) -> [PowerState.LowPowerReason] {
        machine.observe(reading, wishes: .init(), at: second(time)).state.lowPowerReasons
    }

    @Test("S3 a battery at a fifth switches it on, and off at a quarter or on the mains")
    func battery() {
        var machine = PowerMachine()
        #expect(reasons(&machine, battery(0.21), 0) == [])
        #expect(reasons(&machine, battery(0.20), 1) == [.lowBattery])
        #expect(reasons(&machine, battery(0.24), 2) == [.lowBattery])
        #expect(reasons(&machine, battery(0.24), 100) == [.lowBattery], "in the band for ever")
        #expect(reasons(&machine, battery(0.3), 101) == [.lowBattery])
        #expect(reasons(&machine, battery(0.3), 111) == [])
        #expect(reasons(&machine, battery(0.1), 112) == [.lowBattery])
        #expect(reasons(&machine, battery(0.1, isOnMains: true), 113) == [.lowBattery])
        #expect(reasons(&machine, battery(0.1, isOnMains: true), 123) == [])
    }

    @Test("S3 a plug that is pulled and put back each second changes it once")
    func flaps() {
        var machine = PowerMachine()
        for time in 0..<40 {
            #expect(reasons(&machine, battery(0.1, isOnMains: time % 2 == 1), Double(time)) == [.lowBattery])
        }
    }

    @Test("S3 each reason is named, and each alone is enough")
    func allReasons() {
        var machine = PowerMachine()
        var wishes = PowerMachine.Wishes()
        wishes.isConfigured = true
        wishes.isRequested = true
        let reading = PowerReading(isDischarging: true, batteryLevel: 0.1, savingProfile: "platform profile low-power")
        let found = machine.observe(.known(reading), wishes: wishes, at: second(0))
        #expect(found.state.lowPowerReasons == PowerState.LowPowerReason.allCases)
        #expect(found.reason.contains("platform profile low-power"))
        #expect(found.state.description.hasPrefix("battery 10 %, low-power mode (lowBattery, "))
    }

    @Test("S3 a machine without a supply runs on the mains; wishes hold there too")
    func unknownSupply() {
        var machine = PowerMachine()
        let none = machine.observe(.unknown("no supply"), wishes: .init(), at: second(0))
        #expect(none.state == PowerState() && !none.isKnown && none.reason.contains("no supply"))
        var wishes = PowerMachine.Wishes()
        wishes.isRequested = true
        let asked = machine.observe(.unknown("no supply"), wishes: wishes, at: second(1))
        #expect(asked.state.isLowPowerMode && asked.reason.contains("the program asks"))
    }

    @Test("S3 a limit of zero never counts the battery")
    func noLimit() {
        var machine = PowerMachine(lowBattery: 0)
        #expect(reasons(&machine, battery(0), 0) == [])
    }
}
