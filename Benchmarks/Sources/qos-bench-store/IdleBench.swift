import Foundation
import QoSSQLiteStore

/// IDLE: a host with 10,000 items that are due in an hour. What the process does in ten seconds, beside a process with
/// a scheduler alone.
struct IdleBench {
    private static let count = 10_000
    private static let time = Duration.seconds(10)

    private struct Later: Workload {
        static let name: WorkloadName = "later"
        struct Parameters: Codable, Sendable {}

        func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
            .finished
        }
    }

    static func run(in folder: String) async throws {
        let scheduler = try QoSScheduler()
        try await measure("IDLE scheduler alone")
        for (name, store) in try stores(in: folder, "idle") {
            let host = try WorkloadHost(store: store, scheduler: scheduler, workloads: [Later()])
            let request = try WorkloadRequest(
                for: Later.self, .init(), level: .background, schedule: .after(.seconds(3600)))
            for _ in 0..<count / 1000 { _ = try await host.submit(Array(repeating: request, count: 1000)) }
            let running = scheduler.startDetachedTask(at: .userInitiated) { try await host.run() }
            try await measure("IDLE \(name), \(count) scheduled items")
            host.stop()
            try await running.value
        }
        try await scheduler.shutdown(within: .seconds(30))
    }

    private static func measure(_ name: String) async throws {
        // What has begun ends first.
        try await Task.sleep(for: .seconds(2))
        let before = usage()
        blockThread(for: time)
        let after = usage()
        say("\(name), wake-ups in 10 s", after.switches - before.switches, "")
        say("\(name), processor time in 10 s", (after.time - before.time) * 1000, "ms")
    }

    /// Sleeps without the runtime's timers.
    private static func blockThread(for time: Duration) { usleep(UInt32(time / .microseconds(1))) }

    private static func usage() -> (switches: Double, time: Double) {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (Double(usage.ru_nvcsw), seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }
}
