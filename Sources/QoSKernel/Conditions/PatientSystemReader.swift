package import QoSCore

/// Reads the machine's state, and goes on without sources that block. It never fails: a source that cannot be read is
/// unknown, with the reason.
///
/// Thermal sensors, power supplies and file systems may block; each is a ``BlockingSources/Source``. The files of `/proc`
/// are read on the calling thread.
///
/// Threading: one thread at a time calls ``read()``; any thread does the rest.
package final class PatientSystemReader: Sendable {
    /// The result of a source that may block.
    package enum SensorValue: Sendable {
        /// Heat.
        case thermal(Reading<ThermalReading>)
        /// The power supply.
        case power(Reading<PowerReading>)
        /// The space of a file system.
        case disk(Reading<SystemReadings.Room>)
    }

    /// The time for a source before the others go on without it, in nanoseconds.
    package static let patience: UInt64 = 100_000_000

    private let sources: BlockingSources<SensorValue>
    private let root: FileRoot

    /// - Parameters:
    ///   - root: where `proc` and `sys` are.
    ///   - paths: a file or directory on each file system whose space counts.
    ///   - thermal: takes the place of the thermal sensors, for tests.
    package init(
        root: FileRoot = .real, paths: [String] = ["/"], thermal: (@Sendable () -> Reading<ThermalReading>)? = nil
    ) {
        self.root = root
        let disks = paths.map { path in
            BlockingSources<SensorValue>.Source("the file system of \(path)") {
                .disk(DiskReader(paths: [path]).read())
            }
        }
        sources = BlockingSources(
            [
                .init("the thermal sensors") { .thermal(thermal?() ?? ThermalReader(root: root).read()) },
                .init("the power supplies") { .power(PowerReader(root: root).read()) },
            ] + disks)
    }

    /// Reads each source once.
    package func read() -> SystemReadings {
        var readings = readKernel()
        let answers = sources.read(patience: Self.patience)
        readings.thermal = Self.reading(answers[0], "the thermal sensors") { value in
            if case .thermal(let reading) = value { reading } else { nil }
        }
        readings.power = Self.reading(answers[1], "the power supplies") { value in
            if case .power(let reading) = value { reading } else { nil }
        }
        readings.freeDisk = Self.tightest(
            answers.dropFirst(2).map { answer in
                Self.reading(answer, "a file system") { if case .disk(let reading) = $0 { reading } else { nil } }
            })
        return readings
    }

    /// Reads the sources of which the kernel has the answer: none of them blocks.
    private func readKernel() -> SystemReadings {
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

    /// The sources whose reads have not returned, with their durations in nanoseconds.
    package var blocked: [(name: String, nanoseconds: UInt64)] {
        sources.blocked.filter { $0.nanoseconds >= Self.patience }
    }

    /// Ends the thread of the sources.
    package func end() { sources.end() }

    private static func reading<Content>(
        _ answer: BlockingSources<SensorValue>.Answer, _ name: String, _ content: (SensorValue) -> Reading<Content>?
    ) -> Reading<Content> {
        switch answer {
        case .value(let value): return content(value) ?? .unknown("no reading of \(name)")
        case .blocked(let nanoseconds):
            let tenths = nanoseconds / 100_000_000
            return .unknown("\(name) blocked: no answer for \(tenths / 10).\(tenths % 10) s")
        case .noThread(let error): return .unknown("no thread to read \(name): \(error)")
        }
    }

    /// The file system with the smallest free share. One that cannot be read does not hide the others.
    private static func tightest(_ readings: [Reading<SystemReadings.Room>]) -> Reading<SystemReadings.Room> {
        let rooms = readings.compactMap(\.value)
        if let tightest = rooms.min(by: { $0.share < $1.share }) { return .known(tightest) }
        return readings.last ?? .unknown("no file system is watched")
    }
}
