import QoSCore
import Testing

@Suite("The conditions over time")
struct ConditionMachineTests {
    private func hot(_ temperature: Double) -> Reading<ThermalReading> {
        .known(ThermalReading(zones: [.init(name: "cpu", temperature: temperature, passive: 90, critical: 105)]))
    }

    private func stall(_ seconds: Double) -> Reading<SystemReadings.Stall> {
        .known(.init(average10: 0, total: UInt64(seconds * 1_000_000)))
    }

    @Test("S1 S4 without any source everything is nominal and unknown, and says why")
    func nothingKnown() {
        var machine = ConditionMachine()
        let found = machine.observe(SystemReadings(), at: second(0))
        #expect(found.isNominal)
        #expect(!found.thermal.isKnown && !found.power.isKnown)
        for kind in PressureKind.allCases {
            #expect(!found[kind].isKnown && found[kind].reason == "not read", "\(kind)")
        }
    }

    @Test("S1 heat rises at once, stays for ten seconds, and has the reason of its beginning")
    func heat() {
        var machine = ConditionMachine()
        var readings = SystemReadings()
        readings.thermal = hot(92)
        let first = machine.observe(readings, at: second(0)).thermal
        #expect(first.state == .serious && first.isKnown)
        readings.thermal = hot(93)
        #expect(machine.observe(readings, at: second(1)).thermal == first, "no change without a change of state")
        readings.thermal = hot(50)
        #expect(machine.observe(readings, at: second(2)).thermal.state == .serious)
        #expect(machine.observe(readings, at: second(11.9)).thermal.state == .serious)
        #expect(machine.observe(readings, at: second(12)).thermal.state == .nominal)
    }

    @Test("S1 a sensor that vanishes keeps its state until the time to fall is over, and is then nominal and unknown")
    func vanishes() {
        var machine = ConditionMachine()
        var readings = SystemReadings()
        readings.thermal = hot(92)
        _ = machine.observe(readings, at: second(0))
        readings.thermal = .unknown("gone")
        let held = machine.observe(readings, at: second(1)).thermal
        #expect(held.state == .serious && !held.isKnown && held.reason == "gone")
        let after = machine.observe(readings, at: second(11)).thermal
        #expect(after.state == .nominal && !after.isKnown && after.reason == "gone")
    }

    @Test("S1 a sensor that comes and goes each second changes the state once")
    func flaps() {
        var machine = ConditionMachine()
        var states: [ThermalState] = []
        for time in 0..<60 {
            var readings = SystemReadings()
            readings.thermal = time.isMultiple(of: 2) ? hot(92) : .unknown("gone")
            states.append(machine.observe(readings, at: second(Double(time))).thermal.state)
        }
        #expect(states.allSatisfy { $0 == .serious })
    }

    @Test("S4 the stall since the last reading counts, not the average of ten seconds")
    func stalls() {
        var machine = ConditionMachine()
        var readings = SystemReadings()
        readings.memory = stall(100)
        #expect(machine.observe(readings, at: second(50)).pressure[.memory]?.state == .nominal)
        readings.memory = stall(100.06)
        let found = machine.observe(readings, at: second(51))[.memory]
        #expect(found.state == .elevated)
        #expect(found.reason == "threads waited for memory in 6 % of the time")
        readings.memory = stall(100.3)
        #expect(machine.observe(readings, at: second(52))[.memory].state == .severe)
        #expect(machine.observe(readings, at: second(53))[.memory].state == .severe)
        #expect(machine.observe(readings, at: second(62.9))[.memory].state == .severe)
        #expect(machine.observe(readings, at: second(63.5))[.memory].state == .nominal)
    }

    @Test("S4 the first reading uses the average of ten seconds")
    func firstReading() {
        var machine = ConditionMachine()
        var readings = SystemReadings()
        readings.memory = .known(.init(average10: 30, total: 0))
        #expect(machine.observe(readings, at: second(0))[.memory].state == .severe)
    }

    @Test("S4 a trigger of the kernel counts at once, before the next share is known")
    func triggered() {
        var machine = ConditionMachine()
        var readings = SystemReadings()
        readings.memory = stall(100)
        #expect(machine.observe(readings, at: second(50))[.memory].state == .nominal)
        readings.triggered = [.memory, .steal]
        #expect(machine.observe(readings, at: second(50.1))[.memory].state == .elevated)
        readings.memory = .unknown("gone")
        var other = ConditionMachine()
        #expect(other.observe(readings, at: second(0))[.memory].state == .nominal, "what is unknown has no trigger")
    }

    @Test("S4 busy processors have to last for two seconds; the load average stands in with its own words")
    func load() {
        var machine = ConditionMachine()
        var readings = SystemReadings()
        readings.cpu = .known(.init(average10: 85, standIn: "load average 12"))
        #expect(machine.observe(readings, at: second(0))[.cpu].state == .nominal)
        #expect(machine.observe(readings, at: second(1.9))[.cpu].state == .nominal)
        let found = machine.observe(readings, at: second(2))[.cpu]
        #expect(found.state == .severe && found.reason == "load average 12")
    }

    @Test("S4 a snapshot is the state of the last reading, without a time to last and with its number")
    func snapshot() {
        var machine = ConditionMachine(isSnapshot: true)
        var readings = SystemReadings()
        readings.cpu = stall(100)
        #expect(machine.observe(readings, at: second(50))[.cpu].state == .nominal)
        readings.cpu = stall(100.9)
        let found = machine.observe(readings, at: second(51))[.cpu]
        #expect(found.state == .severe && found.reason == "threads waited for a processor in 90 % of the time")
        #expect(machine.observe(readings, at: second(52))[.cpu].state == .nominal)
    }

    @Test("S4 steal and throttling are shares between two readings; counters that go back are forgotten")
    func counters() {
        var machine = ConditionMachine()
        func state(_ part: UInt64, _ whole: UInt64, _ time: Double) -> PressureState {
            var readings = SystemReadings()
            readings.steal = .known(.init(part: part, whole: whole))
            return machine.observe(readings, at: second(time))[.steal].state
        }
        #expect(state(1000, 2000, 0) == .nominal, "one reading gives no share")
        #expect(state(1015, 2100, 1) == .nominal)
        #expect(state(1030, 2200, 3) == .elevated)
        #expect(state(5, 10, 4) == .elevated, "it held, and counts from here")
        #expect(state(5, 110, 5) == .elevated)
        #expect(state(5, 210, 15) == .nominal)
    }

    @Test("S4 little memory and little disk are named with their place")
    func rooms() {
        var machine = ConditionMachine()
        var readings = SystemReadings()
        readings.freeMemory = .known(.init(free: 6 << 20, whole: 100 << 20, place: "the control group /app"))
        readings.freeDisk = .known(.init(free: 1 << 20, whole: 100 << 20, place: "/data"))
        let found = machine.observe(readings, at: second(0))
        #expect(found[.freeMemory].state == .elevated)
        #expect(found[.freeMemory].reason == "the control group /app has 6.0 % of its memory free (6 MiB of 100 MiB)")
        #expect(found[.freeDisk].state == .severe)
        readings.freeDisk = .known(.init(free: 0, whole: 0, place: "/proc"))
        var other = ConditionMachine()
        #expect(other.observe(readings, at: second(0))[.freeDisk].state == .nominal, "a file system without a size")
    }

    @Test("S4 numbers that are none count as unknown", arguments: [Double.nan, .infinity, -.infinity])
    func notANumber(value: Double) {
        var machine = PressureMachine(.standard(for: .memory))
        let found = machine.observe(.known(value), at: second(0)) { "\($0)" }
        #expect(found.state == .nominal && !found.isKnown)
    }

    @Test("S4 a reading soon after another one repeats its share")
    func quickReadings() {
        var meter = ShareMeter()
        #expect(meter.observe(.init(part: 0, whole: 0), at: second(0)) == nil)
        #expect(meter.observe(.init(part: 5, whole: 10), at: second(0.1)) == nil)
        #expect(meter.observe(.init(part: 10, whole: 40), at: second(1)) == 0.25)
        #expect(meter.observe(.init(part: 20, whole: 50), at: second(1.1)) == 0.25)
        #expect(meter.observe(.init(part: 40, whole: 80), at: second(2)) == 0.75)
    }
}
