import Foundation
import QoSCore
import QoSFileTestSupport
import QoSKernel

@testable import QoSRuntime

/// A made tree of `proc` and `sys` that changes over virtual time, with a monitor on it that governs a scheduler.
final class MadeMachine {
    static let zone = "sys/class/thermal/thermal_zone0"
    static let battery = "sys/class/power_supply/BAT0"
    static let mains = "sys/class/power_supply/AC"

    private let folder: TemporaryFolder
    private let scheduler: QoSScheduler
    let monitor: SystemMonitor

    /// The total stall time of each resource, in microseconds.
    private var stalls: [PressureReader.Resource: UInt64] = [:]

    init(governing scheduler: QoSScheduler) throws {
        let folder = try TemporaryFolder("qos-machine")
        self.folder = folder
        self.scheduler = scheduler
        var configuration = SystemMonitor.Configuration()
        let root = FileRoot(folder.path)
        configuration.source = {
            var readings = SystemReadings()
            readings.thermal = ThermalReader(root: root).read()
            readings.power = PowerReader(root: root).read()
            readings.cpu = StallReader(root: root).read(.cpu)
            readings.memory = StallReader(root: root).read(.memory)
            readings.io = StallReader(root: root).read(.io)
            readings.freeMemory = MemoryReader(root: root).read()
            return readings
        }
        monitor = try SystemMonitor(governing: scheduler, configuration: configuration, isDrivenByHand: true)
    }

    /// Changes a file; `nil` removes it.
    func write(_ path: String, _ text: String?) throws {
        if let text { return try folder.write(path, text) }
        try FileManager.default.removeItem(atPath: folder[path])
    }

    /// A zone with a passive trip point at 90 °C and a critical one at 105 °C.
    func addZone() throws {
        try write("\(Self.zone)/type", "cpu")
        for (number, point) in [("passive", "90000"), ("critical", "105000")].enumerated() {
            try write("\(Self.zone)/trip_point_\(number)_type", point.0)
            try write("\(Self.zone)/trip_point_\(number)_temp", point.1)
        }
    }

    /// Lets threads wait for a resource, in percent of a second.
    func stall(_ resource: PressureReader.Resource, percent: UInt64) throws {
        stalls[resource, default: 0] += percent * 10_000
        let averages = "avg10=0.00 avg60=0.00 avg300=0.00"
        try write(
            "proc/pressure/\(resource.rawValue)",
            "some \(averages) total=\(stalls[resource] ?? 0)\nfull \(averages) total=0\n")
    }

    /// Plays seconds one after the other.
    ///
    /// - Parameters:
    ///   - seconds: the seconds since the start of the machine.
    ///   - change: the machine's changes in a second, before it is read.
    ///   - shown: the part of the machine's state that is of interest.
    /// - Returns: each state that differs from the one before, with its second.
    func play(
        _ seconds: ClosedRange<Int>, _ change: (Int) throws -> Void,
        shows shown: (SystemMonitor, QoSScheduler) -> String
    ) rethrows -> [String] {
        var last = ""
        var lines: [String] = []
        for time in seconds {
            try change(time)
            monitor.tick(at: second(Double(time)))
            let state = shown(monitor, scheduler)
            if state != last { lines.append("\(time): \(state)") }
            last = state
        }
        return lines
    }
}
