import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// Whole stories: files change over virtual time, and the scheduler's classes follow.
@Suite("A made machine in virtual time", .timeLimit(.minutes(5)))
struct MadeMachineTests {
    private let configuration = QoSScheduler.Configuration(
        processors: 4, appliesKernelEffects: false, detectsBlocking: false)

    /// Temperature in °C by second; the sensor shows the last one.
    private func temperature(_ machine: MadeMachine, _ course: [Int: String], at time: Int) throws {
        if let text = course[time] { try machine.write("\(MadeMachine.zone)/temp", text) }
    }

    private static func heat(_ monitor: SystemMonitor, _ scheduler: QoSScheduler) -> String {
        let thermal = monitor.conditions.thermal
        let limit = scheduler.widthLimit(for: .background).map(String.init) ?? "none"
        return "\(thermal.state)\(thermal.isKnown ? "" : ", unknown"), background \(limit)"
    }

    @Test("S1 S2 a hot afternoon: each state limits at once, and the machine comes back one step after the other")
    func hotAfternoon() async throws {
        try await withScheduler(configuration) { scheduler in
            let machine = try MadeMachine(governing: scheduler)
            try machine.addZone()
            let course = [0: "60000", 5: "86000", 10: "91000", 14: "101000", 20: "88000", 40: "50000"]
            let story = try machine.play(0...70) {
                try temperature(machine, course, at: $0)
            } shows: {
                Self.heat($0, $1)
            }
            #expect(
                story == [
                    "0: nominal, background none", "5: fair, background 2", "10: serious, background 0",
                    "14: critical, background 0", "30: serious, background 0", "50: nominal, background 0",
                    "52: nominal, background none",
                ])
        }
    }

    @Test("S1 a sensor that vanishes, lies and comes back: its state is kept for ten seconds, then it is unknown")
    func brokenSensor() async throws {
        try await withScheduler(configuration) { scheduler in
            let machine = try MadeMachine(governing: scheduler)
            try machine.addZone()
            let course = [0: "92000", 3: "-273000", 5: "garbage", 7: "", 30: "93000", 33: "60000"]
            let story = try machine.play(0...60) {
                try temperature(machine, course, at: $0)
            } shows: {
                Self.heat($0, $1)
            }
            #expect(
                story == [
                    "0: serious, background 0", "3: serious, unknown, background 0",
                    "13: nominal, unknown, background 0", "15: nominal, unknown, background none",
                    "30: serious, background 0", "43: nominal, background 0", "45: nominal, background none",
                ])
        }
    }

    @Test("S1 a sensor that flaps each second changes the state once in each direction")
    func flappingSensor() async throws {
        try await withScheduler(configuration) { scheduler in
            let machine = try MadeMachine(governing: scheduler)
            try machine.addZone()
            let story = try machine.play(0...60) { time in
                try machine.write("\(MadeMachine.zone)/temp", time < 40 && time.isMultiple(of: 2) ? "91000" : "60000")
            } shows: {
                Self.heat($0, $1)
            }
            #expect(
                story == [
                    "0: serious, background 0", "49: nominal, background 0", "51: nominal, background none",
                ])
        }
    }

    @Test("S3 on the road: low-power mode begins at a fifth of the charge, and ends at the mains")
    func onTheRoad() async throws {
        try await withScheduler(configuration) { scheduler in
            let machine = try MadeMachine(governing: scheduler)
            try machine.write("\(MadeMachine.mains)/type", "Mains")
            try machine.write("\(MadeMachine.battery)/type", "Battery")
            let story = try machine.play(0...60) { time in
                let isPlugged = time >= 35
                try machine.write("\(MadeMachine.mains)/online", isPlugged ? "1" : "0")
                try machine.write("\(MadeMachine.battery)/capacity", "\(max(5, 30 - time))")
                try machine.write("\(MadeMachine.battery)/status", isPlugged ? "Charging" : "Discharging")
            } shows: { monitor, _ in
                let mode = monitor.conditions.power.state.isLowPowerMode ? "low power" : "normal"
                return "\(mode), background \(monitor.permits(.background) ? "runs" : "waits"), discretionary work at "
                    + "default \(monitor.permits(.default, isDiscretionary: true) ? "runs" : "waits")"
            }
            #expect(
                story == [
                    "0: normal, background runs, discretionary work at default runs",
                    "10: low power, background waits, discretionary work at default waits",
                    "45: normal, background waits, discretionary work at default waits",
                    "47: normal, background runs, discretionary work at default runs",
                ])
        }
    }

    @Test("S4 a copy of a disk: its stalls limit background I/O, and the limits go with them, or with their file")
    func busyDisk() async throws {
        try await withScheduler(configuration) { scheduler in
            let machine = try MadeMachine(governing: scheduler)
            let story = try machine.play(0...40) { time in
                if time == 35 { try machine.write("proc/pressure/io", nil) }
                guard time < 35 else { return }
                try machine.stall(.io, percent: 5..<15 ~= time || time >= 30 ? 60 : 0)
            } shows: { monitor, _ in
                let limit = monitor.decision[.background].ioBytesPerSecond.map { "\($0 >> 20) MiB/s" } ?? "no limit"
                return "io \(monitor.conditions[.io].state), \(limit)"
            }
            #expect(
                story == [
                    "0: io nominal, no limit", "6: io severe, 2 MiB/s", "20: io nominal, 2 MiB/s",
                    "22: io nominal, no limit", "31: io severe, 2 MiB/s", "40: io nominal, 2 MiB/s",
                ])
        }
    }
}
