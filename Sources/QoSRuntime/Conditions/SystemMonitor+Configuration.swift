public import QoSCore
package import QoSKernel

extension SystemMonitor {
    /// The setup of a monitor. The defaults are right for a server.
    public struct Configuration: Sendable {
        /// The time between two readings. At least 10 ms.
        ///
        /// The kernel may report pressure in between.
        public var interval: Duration = .seconds(1)

        /// The policy that decides what each class may use.
        public var policy: any GovernorPolicy = RecommendedPolicy()

        /// The longest latency that requests should have; `nil` leaves `SystemConditions.foreground` unknown.
        public var latencyLimit: LatencyLimit?

        /// Whether low-power mode is on for as long as the program runs.
        public var isLowPowerMode = false

        /// The charge of a discharging battery at which low-power mode begins, 0…1; 0 ignores the battery.
        public var lowBatteryLevel = 0.2

        /// A file or directory on each file system whose free space counts.
        public var fileSystems = ["/"]

        /// A text file of simulated states, one in a line, such as `thermal=serious`; `nil` for none.
        ///
        /// The monitor reads it at each reading, so a change counts within ``interval``. A missing file simulates
        /// nothing. `qosctl simulate thermal serious --file PATH` writes it. For trying things out, not for production.
        public var simulationFile: String?

        /// The throttle whose limits the monitor sets, if it governs a scheduler; `nil` for none.
        public var ioThrottle: IOThrottle? = .process

        /// The place of `proc` and `sys`, for tests.
        package var fileRoot = FileRoot.real

        /// The source of the readings, for tests; `nil` reads the machine.
        package var source: (@Sendable () -> SystemReadings)?

        /// Takes the place of the thermal sensors, for tests.
        package var thermalSource: (@Sendable () -> Reading<ThermalReading>)?

        /// Makes a configuration.
        public init() {}

        /// - Throws: ``QoSRuntimeError/invalidConfiguration(_:)`` for values that make no sense.
        func check() throws(QoSRuntimeError) {
            guard interval >= .milliseconds(10) else {
                throw .invalidConfiguration("an interval of \(interval): use 10 ms or more")
            }
            guard (0...1).contains(lowBatteryLevel) else {
                throw .invalidConfiguration("a low battery level of \(lowBatteryLevel): use 0 to 1")
            }
            guard let latencyLimit else { return }
            guard latencyLimit.limit > .zero, latencyLimit.window >= .milliseconds(1) else {
                throw .invalidConfiguration(
                    "a latency limit of \(latencyLimit.limit) over \(latencyLimit.window): use more than zero, over 1 ms or more"
                )
            }
            guard (0...1).contains(latencyLimit.share) else {
                throw .invalidConfiguration("a latency limit for a share of \(latencyLimit.share): use 0 to 1")
            }
        }

        /// Makes the reader of the machine; `nil` where ``source`` takes its place.
        func makeReader() -> PatientSystemReader? {
            source == nil
                ? PatientSystemReader(root: fileRoot, paths: fileSystems, thermal: thermalSource) : nil
        }
    }
}
