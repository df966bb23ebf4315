package import QoSCore

/// Reads how often the control group of the process used up its processor time (the kernel's
/// `admin-guide/cgroup-v2.rst`).
///
/// Any thread may call it; O(depth of the control group) small files.
package struct ThrottlingReader: Sendable {
    private let root: FileRoot

    /// - Parameter root: where `proc` and `sys` are.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads the throttled periods, and all periods, of the innermost group that has a quota.
    package func read() -> Reading<SystemReadings.Counters> {
        let memberships: [CgroupMembership]
        do throws(KernelError) {
            memberships = try CgroupMembership.current(root: root)
        } catch {
            return .unknown("\(error)")
        }
        var idle: SystemReadings.Counters?
        for directory in memberships.flatMap(\.directories) {
            guard let found = counters(in: directory) else { continue }
            if found.whole > 0 { return .known(found) }
            idle = idle ?? found
        }
        return idle.map { .known($0) } ?? .unknown("no control group of the process has a limit of processor time")
    }

    private func counters(in directory: String) -> SystemReadings.Counters? {
        guard let text = try? SensorFile.read(root.appending("\(directory)/cpu.stat")),
            let reading = QuotaAccount.Reading(statistics: text)
        else { return nil }
        return .init(part: reading.throttled, whole: reading.periods)
    }
}
