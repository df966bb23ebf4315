public import QoSCore
import QoSKernel

extension EnergySnapshot {
    /// Reads the use of this process: processor time and switches of each thread, and the machine's energy counters.
    ///
    /// ```swift
    /// let before = try EnergySnapshot.current()
    /// await indexAll()
    /// print(try EnergyReport(from: before, to: .current()))
    /// ```
    ///
    /// Some 50 µs for each thread; it blocks for `/proc`. Any thread.
    ///
    /// - Throws: an error with a description if `/proc` is not there.
    public static func current() throws -> EnergySnapshot { try EnergyReader().read() }
}
