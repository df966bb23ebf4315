/// The times of the processors since the machine started, from `/proc/stat` (proc_stat(5)).
public struct ProcessorTimes: Sendable, Hashable {
    /// Seconds in which a processor had nothing to run, summed over the processors.
    public let idle: Double
    /// Seconds in which the hypervisor ran something else.
    public let stolen: Double
    /// The number of processors in the sums.
    public let processors: Int

    /// Reads the text of the file; `nil` when it is not what the manual describes.
    ///
    /// - Parameter ticksPerSecond: `sysconf(_SC_CLK_TCK)`.
    public init?(text: String, ticksPerSecond: Double) {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("cpu") }
        guard let sum = lines.first, sum.hasPrefix("cpu ") else { return nil }
        let fields = sum.split(separator: " ").dropFirst().compactMap { Double($0) }
        guard fields.count >= 8 else { return nil }
        idle = (fields[3] + fields[4]) / ticksPerSecond
        stolen = fields[7] / ticksPerSecond
        processors = lines.count - 1
    }

    /// Returns the number of processors that other processes used on average between two readings.
    ///
    /// Idle time is what the kernel counts exactly; busy time it samples at ticks, with which a load that is driven by
    /// timers can be in step.
    ///
    /// - Parameters:
    ///   - start: the earlier reading.
    ///   - seconds: between the two.
    ///   - own: processor seconds of the processes that are measured.
    public func usedByOthers(since start: ProcessorTimes, seconds: Double, own: Double) -> Double {
        guard seconds > 0 else { return 0 }
        let busy = seconds * Double(processors) - (idle - start.idle)
        return max(0, (busy - own) / seconds)
    }
}
