import ArgumentParser

/// What runs beside the searches.
enum Neighbour: String, CaseIterable, ExpressibleByArgument {
    /// Nothing.
    case none
    /// Busy loops under `SCHED_IDLE`: what any work costs the searches on this machine, whatever schedules it.
    case floor
    /// Backup, sync and indexing as workloads of the service, at background.
    case ours
    /// The same workloads in the same service on Swift's own executors, as tasks of background priority.
    case swift
    /// restic, rsync and recollindex, started as they are.
    case peers
    /// The same under `nice -n 19 ionice -c 3`.
    case nice
    /// The same under `nice -n 19 ionice -c 3`, in a session of their own. Where the kernel groups processes by session
    /// (`sched_autogroup_enabled`, sched(7)), a nice value counts only within the session.
    case session

    /// The words before a command of another program.
    var prefix: [String] {
        let nice = ["/usr/bin/nice", "-n", "19", "/usr/bin/ionice", "-c", "3"]
        return switch self {
        case .nice: nice
        case .session: ["/usr/bin/setsid", "--wait"] + nice
        case .none, .floor, .ours, .swift, .peers: []
        }
    }

    /// Whether the work is that of other programs.
    var isForeign: Bool { [.peers, .nice, .session].contains(self) }

    /// Whether there is work that ends. The other neighbours last for a set time.
    var hasWork: Bool { self != .none && self != .floor }

    /// The executors of the service.
    var executor: String { self == .swift ? "swift" : "qos" }
}
