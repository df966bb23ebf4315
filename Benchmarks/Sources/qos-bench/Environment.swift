import BenchCore
import CBenchShims
import Glibc

/// The machine and its state, which a reader needs to compare figures.
struct Environment {
    let kernel: String
    let tickRate: Int
    let processors: Int
    let processorModel: String
    let swift: String
    let isUnprivileged: Bool
    let costs: [(name: String, nanoseconds: Double)]

    /// Reads it, and measures what single system calls cost. Takes half a second.
    static func read(unprivileged: Bool) -> Environment {
        var resolution = timespec()
        unsafe clock_getres(CLOCK_MONOTONIC_COARSE, &resolution)
        let model = SystemFile.read("/proc/cpuinfo")?.split(separator: "\n").first { $0.hasPrefix("model name") }
        return Environment(
            kernel: line("/proc/sys/kernel/osrelease") ?? "unknown",
            tickRate: 1_000_000_000 / max(resolution.tv_nsec, 1),
            processors: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
            processorModel: model.flatMap { $0.split(separator: ":").last.map { String($0.drop { $0 == " " }) } }
                ?? "unknown",
            swift: unsafe getenv("QOS_BENCH_SWIFT").map { unsafe String(cString: $0) } ?? "unknown",
            isUnprivileged: unprivileged || bench_has_cap_sys_nice() == 0,
            costs: [
                ("null_syscall_ns", bench_cost_null_syscall()),
                ("futex_wake_without_waiter_ns", bench_cost_futex_wake()),
                ("eventfd_write_ns", bench_cost_eventfd_write()),
                ("futex_ping_pong_one_cpu_ns", bench_cost_futex_ping_pong(1)),
                ("futex_ping_pong_two_cpus_ns", bench_cost_futex_ping_pong(0)),
            ].filter { $0.1 >= 0 })
    }

    var privilege: String { isUnprivileged ? "unprivileged" : "root" }

    private static func line(_ path: String) -> String? {
        SystemFile.read(path)?.split(separator: "\n").first.map(String.init)
    }
}
