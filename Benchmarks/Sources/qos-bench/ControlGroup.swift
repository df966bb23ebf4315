import BenchCore
import Glibc

/// A control group with a quota of processor time, made for one run.
///
/// Needs root. The measured process enters the group as a program of root's, and drops its privileges there. With
/// version 1, the group is made in the hierarchies of `cpu` and `cpuacct`, as container runtimes do.
struct ControlGroup {
    private static let unified = "/sys/fs/cgroup"
    private static let separate = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuacct"]

    /// The folders; the first has the quota.
    private let folders: [String]

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - processors: the quota.
    ///   - period: milliseconds; 0 for the kernel's default of 100.
    init(processors: Double, period: Double) throws(PeerFailure) {
        let microseconds = Int((period > 0 ? period : 100) * 1000)
        let quota = Int(processors * Double(microseconds))
        let isUnified = SystemFile.read("\(Self.unified)/cgroup.controllers")?.contains("cpu") ?? false
        folders = (isUnified ? [Self.unified] : Self.separate).map { "\($0)/qos-bench-\(getpid())" }
        for folder in folders {
            guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else {
                throw .noGroup(path: folder, error: errno)
            }
        }
        if isUnified {
            try Self.write("\(quota) \(microseconds)", to: "\(folders[0])/cpu.max")
        } else {
            try Self.write("\(microseconds)", to: "\(folders[0])/cpu.cfs_period_us")
            try Self.write("\(quota)", to: "\(folders[0])/cpu.cfs_quota_us")
        }
    }

    /// Returns the arguments of a shell that enters the group and becomes the program.
    func entering(_ arguments: [String]) -> [String] {
        let enter = folders.map { "echo $$ >\($0)/cgroup.procs && " }.joined()
        return ["/bin/sh", "-c", enter + "exec \"$@\"", "sh"] + arguments
    }

    /// Adds the share of the periods in which the group was stopped, and the number of periods.
    func addThrottling(to figures: inout RawFigures) {
        var values: [Substring: Double] = [:]
        for line in (SystemFile.read("\(folders[0])/cpu.stat") ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { values[words[0]] = Double(words[1]) }
        }
        guard let periods = values["nr_periods"], let throttled = values["nr_throttled"], periods > 0 else { return }
        figures["periods"] = periods
        figures["throttled_periods"] = throttled / periods
    }

    /// Removes the group, which is empty once its process has ended.
    func remove() {
        for folder in folders { unsafe rmdir(folder) }
    }

    private static func write(_ text: String, to path: String) throws(PeerFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .noGroup(path: path, error: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw .noGroup(path: path, error: errno)
        }
    }
}
