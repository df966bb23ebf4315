package import QoSCore

/// Reads all sources of the machine's state.
///
/// Any thread may call it. It takes about a millisecond where no sensor is slow, and never fails: a source that cannot
/// be read is unknown, with the reason.
package struct SystemReader: Sendable {
    private let root: FileRoot
    private let paths: [String]

    /// - Parameters:
    ///   - root: where `proc` and `sys` are.
    ///   - paths: a file or directory on each file system whose space counts.
    package init(root: FileRoot = .real, paths: [String] = ["/"]) {
        self.root = root
        self.paths = paths
    }

    /// Reads each source once.
    package func read() -> SystemReadings {
        var readings = readKernel()
        readings.thermal = ThermalReader(root: root).read()
        readings.power = PowerReader(root: root).read()
        readings.freeDisk = DiskReader(paths: paths).read()
        return readings
    }

    /// Reads the sources of which the kernel has the answer: none of them blocks.
    func readKernel() -> SystemReadings {
        var readings = SystemReadings()
        let stalls = StallReader(root: root)
        readings.cpu = stalls.read(.cpu)
        readings.memory = stalls.read(.memory)
        readings.io = stalls.read(.io)
        readings.steal = ProcessorTimeReader(root: root).read()
        readings.throttling = ThrottlingReader(root: root).read()
        readings.freeMemory = MemoryReader(root: root).read()
        return readings
    }
}
