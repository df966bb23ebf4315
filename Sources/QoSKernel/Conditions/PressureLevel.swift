/// The share of time in which threads stood still for want of a resource: one line of a PSI file.
package struct PressureLevel: Sendable, Hashable {
    /// Percent of the last 10 s, 0…100.
    package let average10: Double
    /// Percent of the last 60 s, 0…100.
    package let average60: Double
    /// Percent of the last 300 s, 0…100.
    package let average300: Double
    /// Microseconds since the machine started; differences of two readings give finer averages.
    package let total: UInt64
}
