import Foundation
import QoSCore
import QoSKernel

extension DoctorReport {
    /// A source of the machine's state.
    struct Source: Encodable {
        let name: String
        let isThere: Bool
        /// The reading, or the reason why there is none.
        let text: String
    }

    /// The sources that this machine has and lacks.
    static var sources: [Source] {
        let reader = PatientSystemReader()
        defer { reader.end() }
        let readings = reader.read()
        return [
            source("thermal", readings.thermal) { reading in
                "\(reading.zones.count) zones, \(reading.cooling.count) cooling devices that slow processors down"
                    + reading.skipped.map { "; skipped \($0)" }.joined()
            },
            source("power", readings.power) { reading in
                [
                    reading.source.rawValue, reading.batteryLevel.map { "battery \(Int(($0 * 100).rounded())) %" },
                    reading.savingProfile,
                ].compactMap { $0 }.joined(separator: ", ")
            },
            source("cpu pressure", readings.cpu) { $0.standIn ?? "\($0.average10) % of the last 10 s" },
            source("memory pressure", readings.memory) { "\($0.average10) % of the last 10 s" },
            source("io pressure", readings.io) { "\($0.average10) % of the last 10 s" },
            source("steal", readings.steal) { "\($0.part) of \($0.whole) ticks" },
            source("throttling", readings.throttling) { "\($0.part) of \($0.whole) periods" },
            source("free memory", readings.freeMemory) { "\($0.free >> 20) MiB of \($0.whole >> 20) MiB, \($0.place)" },
            source("free disk", readings.freeDisk) { "\($0.free >> 20) MiB of \($0.whole >> 20) MiB, \($0.place)" },
            trigger, energy, uncached,
        ]
    }

    /// Whether the machine's energy can be read.
    private static var energy: Source {
        let found = EnergyReader().readCounters()
        return Source(
            name: "energy", isThere: !found.counters.isEmpty,
            text: found.problem ?? found.counters.map(\.name).joined(separator: ", "))
    }

    /// Whether reads and writes can leave the page cache as it was.
    private static var uncached: Source {
        let folder = FileManager.default.temporaryDirectory.path
        let result = UncachedProbe.run(in: folder)
        let text = result == 0 ? "RWF_DONTCACHE on the file system of \(folder)" : UncachedProbe.text(result, folder)
        return Source(name: "uncached I/O", isThere: result == 0, text: text)
    }

    private static func source<Value>(
        _ name: String, _ reading: Reading<Value>, _ text: (Value) -> String
    ) -> Source {
        switch reading {
        case .known(let value): Source(name: name, isThere: true, text: text(value))
        case .unknown(let problem): Source(name: name, isThere: false, text: problem)
        }
    }

    /// Whether the kernel reports pressure by itself.
    private static var trigger: Source {
        do throws(KernelError) {
            _ = try PressureTrigger(.memory, stall: .milliseconds(100))
            return Source(name: "triggers", isThere: true, text: "the kernel reports pressure by itself")
        } catch {
            return Source(name: "triggers", isThere: false, text: "\(error)")
        }
    }
}
