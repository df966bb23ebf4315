import QoSCore
import QoSKernel

@testable import QoSRuntime

/// A machine whose sensors show what a test says.
final class SimulatedMachine: Sendable {
    private let content = Lock((readings: SystemReadings(), count: 0))

    /// The number of readings of the machine.
    var readCount: Int { content.withLock { $0.count } }

    /// The configuration of a monitor that reads this machine.
    var configuration: SystemMonitor.Configuration {
        var configuration = SystemMonitor.Configuration()
        configuration.source = { [self] in
            content.withLock { content in
                content.count += 1
                return content.readings
            }
        }
        return configuration
    }

    func set(_ change: (inout SystemReadings) -> Void) {
        content.withLock { change(&$0.readings) }
    }

    /// Shows one zone with a passive trip point at 90 °C and a critical one at 105 °C.
    func setTemperature(_ temperature: Double) {
        let zone = ThermalReading.Zone(name: "cpu", temperature: temperature, passive: 90, critical: 105)
        set { $0.thermal = .known(ThermalReading(zones: [zone])) }
    }
}

/// A time of a test, in seconds.
func second(_ seconds: Double) -> SchedulerInstant {
    SchedulerInstant(nanoseconds: Int64((seconds * 1_000_000_000).rounded()))
}
