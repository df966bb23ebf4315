import Foundation
import QoSKernel

/// Policy and nice value of a thread of this process from `/proc/self/task/<tid>/stat` (proc_pid_stat(5)). A second
/// source, independent of the calls that set both values.
struct ThreadStat {
    let policy: String
    let nice: String

    init(of thread: ThreadID) {
        let path = "/proc/self/task/\(thread.rawValue)/stat"
        guard
            let text = try? String(contentsOfFile: path, encoding: .utf8),
            // The name, in parentheses, may contain anything; the third field follows it.
            let close = text.lastIndex(of: ")")
        else {
            (policy, nice) = ("unknown: \(path) cannot be read", "unknown")
            return
        }
        let fields = text[close...].dropFirst().split(separator: " ")
        nice = fields.count > 16 ? String(fields[16]) : "unknown"
        policy = fields.count > 38 ? Self.name(ofPolicy: String(fields[38])) : "unknown"
    }

    /// sched(7).
    private static func name(ofPolicy number: String) -> String {
        ["0": "other", "1": "fifo", "2": "rr", "3": "batch", "5": "idle", "6": "deadline"][number] ?? number
    }
}
