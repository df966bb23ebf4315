import Glibc
import QoSCore
import QoSRuntime

/// Lines on standard output, written at once and whole, from any thread.
enum Report {
    static func line(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }

    /// Prints a scheduler's past and pending work.
    static func scheduler(_ name: String, _ snapshot: SchedulerSnapshot) {
        line(
            "scheduler \(name): moved \(snapshot.tasksMoved), promoted \(snapshot.runningPromoted), "
                + "windows \(snapshot.starvationWindows), fences \(snapshot.fencesRaised), "
                + "blocked \(snapshot.blockedDeclared)+\(snapshot.blockedDetected), "
                + "uncompensated \(snapshot.uncompensated), mode \(snapshot.effectMode ?? "none")")
        for pool in snapshot.pools {
            let limit = pool.widthLimit.map { "limit \($0)" } ?? "no limit"
            line(
                "  \(pool.qosClass): running \(pool.running) of \(pool.width), \(limit), workers \(pool.workers), "
                    + "blocked \(pool.blocked), queued \(pool.queued), oldest \(pool.oldestWait), "
                    + "run \(pool.jobsRun), parked \(pool.timesParked), stand-ins \(pool.standIns)")
        }
    }

    /// Each thread's name, state and place in the kernel.
    static func threads() {
        for id in ProcessFiles.entries("/proc/self/task").sorted() {
            let folder = "/proc/self/task/\(id)"
            let name = ProcessFiles.text("\(folder)/comm")
            let status = ProcessFiles.text("\(folder)/stat").split(separator: ")").last?.split(separator: " ").first
            line("thread \(id) \(name): \(status ?? "?") in \(ProcessFiles.text("\(folder)/wchan"))")
        }
    }
}
