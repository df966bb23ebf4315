import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The monitor with its thread", .timeLimit(.minutes(5)))
struct MonitorThreadTests {
    @Test("S1 S2 a change is published after it was applied, and the end lifts the limits and ends the sequence")
    func publishes() async throws {
        try await withScheduler { scheduler in
            let machine = SimulatedMachine()
            var configuration = machine.configuration
            // Only a wake-up reads again.
            configuration.interval = .seconds(3600)
            let monitor = try SystemMonitor(governing: scheduler, configuration: configuration)
            var states: [ThermalState] = []
            for await conditions in monitor.conditionChanges {
                if states.last != conditions.thermal.state { states.append(conditions.thermal.state) }
                if conditions.thermal.state == .serious {
                    #expect(scheduler.widthLimit(for: .background) == 0)
                    break
                }
                monitor.overrides.thermal = .serious
            }
            #expect(states == [.nominal, .serious])
            monitor.stop()
            for await _ in monitor.decisionChanges {}
            #expect(scheduler.widthLimit(for: .background) == nil)
        }
    }

    @Test("S1 it reads again and again by itself")
    func reads() async throws {
        let machine = SimulatedMachine()
        var configuration = machine.configuration
        configuration.interval = .milliseconds(10)
        let monitor = try SystemMonitor(configuration: configuration)
        while machine.readCount < 3 { await Task.yield() }
        machine.setTemperature(120)
        for await conditions in monitor.conditionChanges where conditions.thermal.state == .critical { break }
        #expect(monitor.decision[.background].permission == .stop)
    }

    @Test("S1 a monitor that nobody keeps ends, and lifts its limits")
    func lastReference() async throws {
        try await withScheduler { scheduler in
            var monitor: SystemMonitor? = try SystemMonitor(
                governing: scheduler, configuration: SimulatedMachine().configuration)
            monitor?.overrides.thermal = .serious
            let changes = try #require(monitor?.conditionChanges)
            for await conditions in changes where conditions.thermal.state == .serious { break }
            let decisions = try #require(monitor?.decisionChanges)
            #expect(scheduler.widthLimit(for: .background) == 0)
            monitor = nil
            for await _ in decisions {}
            #expect(scheduler.widthLimit(for: .background) == nil)
        }
    }

    @Test("S1 S3 S4 the real machine is read, whatever it shows")
    func machine() async throws {
        let monitor = try SystemMonitor()
        for await conditions in monitor.conditionChanges where conditions[.freeMemory].isKnown { break }
        #expect(monitor.conditions[.steal].isKnown)
        monitor.stop()
        for await _ in monitor.conditionChanges {}
    }

    @Test("S1 a sensor that blocks does not hold up the other sources, and the monitor names it with the time")
    func blockedSensor() async throws {
        let release = Gate()
        var configuration = SystemMonitor.Configuration()
        configuration.interval = .milliseconds(10)
        configuration.thermalSource = {
            release.blockThread()
            return .unknown("the sensor is back")
        }
        let monitor = try SystemMonitor(configuration: configuration)
        for await conditions in monitor.conditionChanges where conditions[.freeDisk].isKnown {
            #expect(!conditions.thermal.isKnown)
            if conditions.thermal.reason.contains("the thermal sensors blocked: no answer for") { break }
        }
        // Requests still count at once.
        monitor.setLowPowerMode(true)
        for await conditions in monitor.conditionChanges where conditions.power.state.isLowPowerMode { break }
        let blocked = try #require(monitor.blockedSources.first)
        #expect(blocked.name == "the thermal sensors" && blocked.duration >= .milliseconds(100))
        release.open()
        while !monitor.blockedSources.isEmpty { await Task.yield() }
        monitor.stop()
    }
}
