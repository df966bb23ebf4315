package import QoSCore

/// Reads the processor time that the hypervisor took from the machine (proc_stat(5)).
///
/// Any thread may call it; one small file.
package struct ProcessorTimeReader: Sendable {
    private let root: FileRoot

    /// - Parameter root: where `proc` is.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads the ticks that were stolen, and all ticks.
    package func read() -> Reading<SystemReadings.Counters> {
        let path = root.appending("/proc/stat")
        do throws(KernelError) {
            let text = try SensorFile.read(path)
            guard let line = text.split(separator: "\n").first, line.hasPrefix("cpu ") else {
                throw KernelError.notSensible(path)
            }
            // user nice system idle iowait irq softirq steal; guest times are parts of user and nice.
            let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { UInt64($0) }
            guard ticks.count == 8 else { throw KernelError.notSensible(path) }
            let whole = ticks.reduce((sum: UInt64(0), overflows: false)) { result, tick in
                let (sum, overflow) = result.sum.addingReportingOverflow(tick)
                return (sum, result.overflows || overflow)
            }
            guard !whole.overflows else { throw KernelError.notSensible(path) }
            return .known(.init(part: ticks[7], whole: whole.sum))
        } catch {
            return .unknown("\(error)")
        }
    }

    /// The number of processors that are online; `nil` if the file does not say.
    var processors: Int? {
        let text = try? SensorFile.read(root.appending("/proc/stat"))
        let count = text?.split(separator: "\n").count { line in
            line.hasPrefix("cpu") && line.dropFirst(3).first?.isNumber == true
        }
        return count.flatMap { $0 > 0 ? $0 : nil }
    }
}
