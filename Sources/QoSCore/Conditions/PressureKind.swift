/// A resource whose shortage is observed (rule S4).
public enum PressureKind: String, Sendable, Hashable, Codable, CodingKeyRepresentable, CaseIterable {
    /// Threads wait for a processor: pressure stall information, or the load average.
    case cpu
    /// Threads wait for memory to be reclaimed or read back.
    case memory
    /// Threads wait for a disk.
    case io
    /// The hypervisor gives the processors of this machine to other machines.
    case steal
    /// The control group of the process has used up its processor time.
    case throttling
    /// Little memory is left, on the machine or in the control group of the process.
    case freeMemory
    /// Little space is left on a watched file system.
    case freeDisk
}
