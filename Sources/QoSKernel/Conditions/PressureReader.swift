internal import Glibc

/// Reads the pressure stall information of the machine.
///
/// Any thread may call it; a reading is one small file, some 10 µs.
package struct PressureReader: Sendable {
    /// A resource that threads wait for.
    package enum Resource: String, Sendable, Hashable, CaseIterable {
        /// A processor.
        case cpu
        /// A disk.
        case io
        /// Memory that has to be reclaimed or read back.
        case memory
    }

    private let root: FileRoot

    /// - Parameter root: where `proc` is.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads `/proc/pressure/<resource>`.
    ///
    /// - Throws: ENOENT when the kernel has no PSI, EOPNOTSUPP when it is switched off (boot with `psi=1`), EBADMSG
    ///   when the file has another form.
    package func read(_ resource: Resource) throws(KernelError) -> Pressure {
        let path = root.appending("/proc/pressure/\(resource.rawValue)")
        let text = try KernelFile.read(path)
        var levels: [Substring: PressureLevel] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let kind = fields.first, let level = Self.level(fields.dropFirst()) else {
                throw KernelError(.readFile, code: EBADMSG, subject: path)
            }
            levels[kind] = level
        }
        guard let some = levels["some"] else { throw KernelError(.readFile, code: EBADMSG, subject: path) }
        return Pressure(some: some, full: levels["full"])
    }

    /// `avg10=0.00 avg60=0.00 avg300=0.00 total=0`, in any order; unknown keys are left alone.
    private static func level(_ fields: ArraySlice<Substring>) -> PressureLevel? {
        var values: [Substring: Substring] = [:]
        for field in fields {
            let parts = field.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            values[parts[0]] = parts[1]
        }
        func percent(_ key: Substring) -> Double? {
            values[key].flatMap { Double($0) }.flatMap { 0...100 ~= $0 ? $0 : nil }
        }
        guard
            let average10 = percent("avg10"), let average60 = percent("avg60"), let average300 = percent("avg300"),
            let total = values["total"].flatMap({ UInt64($0) })
        else { return nil }
        return PressureLevel(average10: average10, average60: average60, average300: average300, total: total)
    }
}

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

/// The pressure on one resource (the kernel's `Documentation/accounting/psi.rst`).
package struct Pressure: Sendable, Hashable {
    /// Time in which at least one thread stood still.
    package let some: PressureLevel
    /// Time in which all threads stood still that had work; `nil` where the kernel does not count it (CPU, before
    /// Linux 5.13; at the machine's level it is zero there).
    package let full: PressureLevel?
}
