import Foundation
import QoSSQLiteStore
import Synchronization

/// H: items that do nothing go through a host with sixteen places, from the first claim to the last end. Beside it the
/// store alone: sixteen tasks that claim one item and end it, again and again.
struct HostRates {
    private static let items = 20_000
    private static let places = 16
    private static let now = WallTime(secondsSince1970: 1_700_000_000)

    private struct Nothing: Workload {
        static let name: WorkloadName = "nothing"
        struct Parameters: Codable, Sendable { var number: Int }

        func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
            .finished
        }
    }

    static func run(in folder: String) async throws {
        let scheduler = try QoSScheduler()
        for round in 1...3 {
            let memory = try await host(InMemoryWorkloadStore(), scheduler)
            say("H memory, host", memory.rate, "items/s")
            say("H memory, host, processor", memory.cost, "ms an item")
            var quick = SQLiteStoreConfiguration()
            quick.durability = .processCrash
            let fast = try await host(SQLiteStore(at: "\(folder)/h-quick\(round)", configuration: quick), scheduler)
            say("H SQLite, no disk wait, host", fast.rate, "items/s")
            say("H SQLite, no disk wait, host, processor", fast.cost, "ms an item")
            let alone = try await calls(SQLiteStore(at: "\(folder)/h-alone\(round)"), scheduler)
            say("H SQLite, durable, claims and ends alone", alone.rate, "items/s")
            say("H SQLite, durable, claims and ends alone, processor", alone.cost, "ms an item")
            let durable = try await host(SQLiteStore(at: "\(folder)/h-durable\(round)"), scheduler)
            say("H SQLite, durable, host", durable.rate, "items/s", .atLeast(5000))
            say("H SQLite, durable, host, processor", durable.cost, "ms an item", .atMost(0.15))
            say("H … over claims and ends alone", durable.rate / alone.rate, "")
        }
        try await scheduler.shutdown(within: .seconds(30))
    }

    private static func fill(_ store: some WorkloadStore) async throws {
        for list in 0..<items / 1000 {
            let requests = try (0..<1000).map {
                try WorkloadRequest(for: Nothing.self, .init(number: list * 1000 + $0), level: .background)
            }
            _ = try await store.insert(requests, at: now)
        }
    }

    private static func host(_ store: some WorkloadStore, _ scheduler: QoSScheduler) async throws
        -> (rate: Double, cost: Double)
    {
        try await fill(store)
        let ended = Atomic(0)
        let (done, continuation) = AsyncStream.makeStream(of: Void.self)
        var configuration = WorkloadHost.Configuration()
        configuration.places = [.background: places]
        configuration.observer = { event in
            guard case .attemptEnded = event else { return }
            if ended.add(1, ordering: .relaxed).newValue == items { continuation.finish() }
        }
        let host = try WorkloadHost(
            store: store, scheduler: scheduler, workloads: [Nothing()], configuration: configuration)
        let (begin, before) = (ContinuousClock.now, processorTime())
        let running = scheduler.startDetachedTask(at: .userInitiated) { try await host.run() }
        for await _ in done {}
        let (time, used) = (seconds(since: begin), processorTime() - before)
        host.stop()
        try await running.value
        return (Double(items) / time, used * 1000 / Double(items))
    }

    private static func calls(_ store: some WorkloadStore, _ scheduler: QoSScheduler) async throws
        -> (rate: Double, cost: Double)
    {
        try await fill(store)
        let request = ClaimRequest(host: "bench", workloads: [Nothing.name])
        let (begin, before) = (ContinuousClock.now, processorTime())
        let running = (0..<places).map { _ in
            scheduler.startDetachedTask(at: .background) {
                while let claim = try await store.claim(request, at: now) {
                    try await store.end(claim.lease, .finished, at: now)
                }
            }
        }
        for task in running { try await task.value }
        let (time, used) = (seconds(since: begin), processorTime() - before)
        return (Double(items) / time, used * 1000 / Double(items))
    }

    /// The processor time of the process in seconds.
    private static func processorTime() -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
