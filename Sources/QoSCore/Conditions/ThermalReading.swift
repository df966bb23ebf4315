/// The temperatures of a machine and the use of its cooling devices (the kernel's `driver-api/thermal/sysfs-api.rst`).
package struct ThermalReading: Sendable, Equatable {
    /// A place with a sensor.
    package struct Zone: Sendable, Equatable {
        /// Its type as the kernel names it: `x86_pkg_temp`.
        package let name: String
        /// In °C.
        package let temperature: Double
        /// The trip point from which the kernel slows processors down; `nil` without one. In °C.
        package let passive: Double?
        /// The trip point at which the kernel warns; `nil` without one. In °C.
        package let hot: Double?
        /// The trip point at which the kernel switches the machine off; `nil` without one. In °C.
        package let critical: Double?

        package init(
            name: String, temperature: Double, passive: Double? = nil, hot: Double? = nil, critical: Double? = nil
        ) {
            self.name = name
            self.temperature = temperature
            self.passive = passive
            self.hot = hot
            self.critical = critical
        }
    }

    /// A device that slows processors down to cool them.
    package struct Cooling: Sendable, Equatable {
        /// Its type as the kernel names it: `Processor`.
        package let name: String
        /// The used share of its steps, 0…1.
        package let use: Double

        package init(name: String, use: Double) {
            self.name = name
            self.use = use
        }
    }

    package var zones: [Zone]
    package var cooling: [Cooling]
    /// The zones and devices that could not be read, with the reasons.
    package var skipped: [String] = []

    package init(zones: [Zone] = [], cooling: [Cooling] = []) {
        self.zones = zones
        self.cooling = cooling
    }
}
