package import QoSCore

/// Reads the free memory of the machine and of the process's control groups (proc_meminfo(5), the kernel's
/// `admin-guide/cgroup-v2.rst` and `cgroup-v1/memory.rst`).
///
/// Any thread may call it; O(depth of the control group) small files.
package struct MemoryReader: Sendable {
    private let root: FileRoot

    /// - Parameter root: where `proc` and `sys` are.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads the place that has the smallest free share.
    package func read() -> Reading<SystemReadings.Room> {
        let path = root.appending("/proc/meminfo")
        let values = (try? SensorFile.read(path)).map { Self.table($0, separator: ":") } ?? [:]
        var rooms: [SystemReadings.Room] = []
        if let whole = values["MemTotal"], let free = values["MemAvailable"], whole > 0, whole < 1 << 53 {
            rooms.append(.init(free: min(free, whole) << 10, whole: whole << 10, place: "the machine"))
        }
        for membership in (try? CgroupMembership.current(of: "memory", root: root)) ?? [] {
            rooms += membership.directories.compactMap { room(in: $0, membership.hierarchy) }
        }
        let tightest = rooms.min { $0.share < $1.share }
        return tightest.map { .known($0) } ?? .unknown("\(path) does not show the available memory")
    }

    private func room(in directory: String, _ hierarchy: CgroupMembership.Hierarchy) -> SystemReadings.Room? {
        let (limitFile, useFile, cacheKey): (String, String, Substring) =
            switch hierarchy {
            case .v2: ("memory.max", "memory.current", "inactive_file")
            case .v1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            }
        func text(_ file: String) -> String? { try? SensorFile.read(root.appending("\(directory)/\(file)")) }
        // v1 has a number near 2^63 for no limit, v2 a word.
        guard let limit = text(limitFile).flatMap({ UInt64($0) }), limit > 0, limit < 1 << 60,
            let used = text(useFile).flatMap({ UInt64($0) })
        else { return nil }
        // Pages of files that were not used lately are given back before anything suffers.
        let cache = text("memory.stat").flatMap { Self.table($0, separator: " ")[cacheKey] } ?? 0
        let kept = used - min(used, cache)
        return .init(free: limit - min(limit, kept), whole: limit, place: "the control group \(directory)")
    }

    private static func table(_ text: String, separator: Character) -> [Substring: UInt64] {
        var values: [Substring: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(whereSeparator: { $0 == separator || $0 == " " })
            if fields.count >= 2, let value = UInt64(fields[1]) { values[fields[0]] = value }
        }
        return values
    }
}
