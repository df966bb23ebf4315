package import QoSCore

/// Reads the stalls of threads: pressure stall information, or the load average in its place for processors.
///
/// Any thread may call it; some small files.
package struct StallReader: Sendable {
    private let root: FileRoot

    /// - Parameter root: where `proc` is.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads the stalls for one resource.
    package func read(_ resource: PressureReader.Resource) -> Reading<SystemReadings.Stall> {
        do throws(KernelError) {
            let level = try PressureReader(root: root).read(resource).some
            return .known(.init(average10: level.average10, total: level.total))
        } catch {
            guard resource == .cpu, let load = loadAverage else { return .unknown("\(error)") }
            return .known(load)
        }
    }

    /// The share of the runnable threads that had no processor, from the load average of a minute.
    private var loadAverage: SystemReadings.Stall? {
        guard
            let text = try? SensorFile.read(root.appending("/proc/loadavg")),
            let load = text.split(separator: " ").first.flatMap({ Double($0) }), load.isFinite, load >= 0,
            let processors = ProcessorTimeReader(root: root).processors
        else { return nil }
        let waiting = max(0, load - Double(processors))
        return .init(
            average10: load > 0 ? 100 * waiting / load : 0,
            standIn: "the load average is \(load) on \(processors) processors, and there is no pressure information")
    }
}
