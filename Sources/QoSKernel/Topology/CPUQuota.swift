internal import Glibc

/// A limit of a control group on processor time: `quota` microseconds in each `period` of them.
package struct CPUQuota: Sendable, Hashable {
    /// Processor time per period, in microseconds; above 0.
    package let quota: UInt64
    /// The period in microseconds; above 0.
    package let period: UInt64
    /// What the kernel carries over from periods with less use, at most, in microseconds; 0 is nothing.
    package let burst: UInt64
    /// The file that sets it.
    package let source: String

    /// The number of threads that can run at a time under the quota, rounded up; at least 1.
    package var width: Int {
        Int(clamping: (quota - 1) / period + 1)
    }

    /// The limit in processors, 0.5 for 50 ms in each 100 ms.
    package var processors: Double {
        Double(quota) / Double(period)
    }

    /// The folder of the group that has it.
    var folder: String {
        source.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }

    /// Wraps a limit; `nil` if quota or period is zero.
    package init?(quota: UInt64, period: UInt64, burst: UInt64 = 0, source: String) {
        guard quota > 0, period > 0 else { return nil }
        self.quota = quota
        self.period = period
        self.burst = burst
        self.source = source
    }
}

extension CPUQuota {
    /// The limits from the process's group up to the top, v1 and v2, the innermost first.
    ///
    /// - Parameters:
    ///   - process: the id of another process, or `self`.
    ///   - known: the limits as of an earlier reading. What cannot be read now counts as unchanged.
    ///   - problems: gets what was unreadable or malformed. A file that is missing is no problem: groups have none
    ///     without the controller, and the topmost has none at all.
    static func limits(
        root: FileRoot, process: String = "self", known: [CPUQuota] = [], problems: inout [KernelError]
    ) -> [CPUQuota] {
        var limits: [CPUQuota] = []
        do throws(KernelError) {
            for membership in try CgroupMembership.current(root: root, process: process) {
                for directory in membership.directories {
                    do throws(KernelError) {
                        let found =
                            switch membership.hierarchy {
                            case .v2: try limitV2(directory, root: root)
                            case .v1: try limitV1(directory, root: root)
                            }
                        if let found { limits.append(found) }
                    } catch {
                        problems.append(error)
                        limits += known.filter { $0.folder == root.appending(directory) }
                    }
                }
            }
        } catch {
            problems.append(error)
            return known
        }
        return limits
    }

    /// `cpu.max`: `max 100000` or `50000 100000`; the period may be left out.
    private static func limitV2(_ directory: String, root: FileRoot) throws(KernelError) -> CPUQuota? {
        let path = root.appending("\(directory)/cpu.max")
        guard let text = try readIfPresent(path) else { return nil }
        let fields = text.split(whereSeparator: \.isWhitespace)
        guard let first = fields.first, fields.count <= 2 else { throw malformed(path) }
        let period = fields.count == 2 ? UInt64(fields[1]) : defaultPeriod
        guard let period else { throw malformed(path) }
        if first == "max" { return nil }
        let burst = burst(root.appending("\(directory)/cpu.max.burst"))
        guard let quota = UInt64(first), let limit = CPUQuota(quota: quota, period: period, burst: burst, source: path)
        else { throw malformed(path) }
        return limit
    }

    /// Returns what is carried over; 0 on kernels without it (before 5.14), and if the file makes no sense.
    private static func burst(_ path: String) -> UInt64 {
        guard let text = try? KernelFile.read(path) else { return 0 }
        return UInt64(text.filter { !$0.isWhitespace }) ?? 0
    }

    /// `cpu.cfs_quota_us`, where −1 is no limit, and `cpu.cfs_period_us`.
    private static func limitV1(_ directory: String, root: FileRoot) throws(KernelError) -> CPUQuota? {
        let path = root.appending("\(directory)/cpu.cfs_quota_us")
        guard let text = try readIfPresent(path) else { return nil }
        guard let quota = Int64(text.filter { !$0.isWhitespace }) else { throw malformed(path) }
        if quota == -1 { return nil }
        let periodPath = root.appending("\(directory)/cpu.cfs_period_us")
        let periodText = try KernelFile.read(periodPath)
        guard let period = UInt64(periodText.filter { !$0.isWhitespace }) else { throw malformed(periodPath) }
        let burst = burst(root.appending("\(directory)/cpu.cfs_burst_us"))
        guard quota > 0, let limit = CPUQuota(quota: UInt64(quota), period: period, burst: burst, source: path) else {
            throw malformed(path)
        }
        return limit
    }

    private static func readIfPresent(_ path: String) throws(KernelError) -> String? {
        do throws(KernelError) {
            return try KernelFile.read(path)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    private static func malformed(_ path: String) -> KernelError {
        KernelError(.readFile, code: EBADMSG, subject: path)
    }

    /// The kernel's default period, in microseconds.
    private static let defaultPeriod: UInt64? = 100_000
}

extension [CPUQuota] {
    /// The tightest of the limits; the first one of several.
    var tightest: CPUQuota? {
        self.min { $0.processors < $1.processors }
    }
}
