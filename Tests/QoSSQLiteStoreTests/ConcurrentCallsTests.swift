#if SQLite
import Foundation
import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSTesting
import Testing

@testable import QoSSQLiteStore

/// Values that several tasks add.
private final class Collected<Value: Sendable>: Sendable {
    private let values = Lock<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}

@Suite("Calls of several tasks and processes")
struct ConcurrentCallsTests {
    private let now = WallTime(secondsSince1970: 1_800_000_000)

    @Test("concurrent calls of all classes, from two connections, each get their own answer", arguments: 0..<3)
    func concurrent(_: Int) async throws {
        let place = try StorePlace()
        let stores = [try place.open(), try place.open()]
        let scheduler = try QoSScheduler()
        let ids = Collected<WorkloadItemID>()
        var tasks: [Task<Void, any Error>] = []
        for (number, qosClass) in (0..<10).flatMap({ number in QoSClass.allCases.map { (number, $0) } }) {
            let (store, now) = (stores[number % 2], now)
            let body: @Sendable () async throws -> Void = {
                for _ in 0..<10 {
                    let answers = try await store.insert([WorkloadRequest("a")], at: now)
                    ids.add(answers[0].item)
                }
            }
            tasks.append(scheduler.startDetachedTask(at: qosClass) { try await body() })
        }
        for task in tasks { try await task.value }
        let found = ids.all
        #expect(Set(found).count == 500)
        #expect(Set(try await stores[0].records(matching: WorkloadQuery()).map(\.id)) == Set(found))
        try await scheduler.shutdown()
    }

    @Test("several calls share one transaction")
    func together() async throws {
        let place = try StorePlace()
        let commits = Collected<Int>()
        var configuration = SQLiteStoreConfiguration()
        configuration.reached = { point in
            if point.moment == .committed, point.calls.first == "insert" {
                commits.add(point.calls.count)
            }
        }
        let store = try place.open(configuration)
        let (scheduler, now) = (try QoSScheduler(), now)
        let tasks = (0..<200).map { _ in
            scheduler.startDetachedTask(at: .utility) { _ = try await store.insert([WorkloadRequest("a")], at: now) }
        }
        for task in tasks { try await task.value }
        try await scheduler.shutdown()
        #expect(commits.all.reduce(0, +) == 200)
        #expect(commits.all.count < 200)
    }

    @Test("a queue of calls: heartbeats first, then by class; the highest caller leads")
    func queue() {
        func call(_ name: String, _ rank: Int) -> StoreCall<Int> {
            StoreCall(name, rank: rank, isSynced: true) { _ in 0 }
        }
        var queue = CallQueue()
        let leads = ["low": 1, "same": 1, "high": 3, "between": 2, "beat": 5].sorted {
            ($0.value, $0.key) < ($1.value, $1.key)
        }
        .filter { queue.add(call($0.key, $0.value)) }.map(\.key)
        // Each in turn is above the leaders before it.
        #expect(leads == ["low", "between", "high", "beat"])
        let first = queue.take(atMost: 3).map(\.name)
        #expect(first == ["beat", "high", "between"])
        let next = [5, 3, 2].map { queue.leaderEnded(rank: $0)?.name }
        #expect(next == [nil, nil, nil], "a leader of the class of those that wait is there")
        let taken = queue.take(atMost: 1)
        #expect(taken.map(\.name) == ["low"])
        queue.putBack(taken)
        let again = queue.take(atMost: 1).map(\.name)
        #expect(again == ["low"])
        let last = queue.leaderEnded(rank: 1)?.name
        #expect(last == "same")
    }

    @Test("processes that are killed at work lose nothing that was acknowledged")
    func kills() async throws {
        let place = try StorePlace()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("QoSStoreKills")
        process.arguments = [place.folder["kills"], "12", "1"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let (reading, ending) = (output.fileHandleForReading, AsyncStream.makeStream(of: String.self))
        // A thread of its own: those of tasks are few.
        Thread.detachNewThread {
            ending.continuation.yield(String(decoding: reading.readDataToEndOfFile(), as: UTF8.self))
            ending.continuation.finish()
        }
        let text = await ending.stream.first { _ in true } ?? ""
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        #expect(text.contains("lost=0"))
    }
}
#endif
