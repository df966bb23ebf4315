import Foundation
import QoSSQLiteStore
import Synchronization

/// D: 10,000 items of one millisecond wait at background and keep all processors busy. A request needs one in the
/// middle. The time until it starts, with and without promotion.
struct PromotionBench {
    private static let count = 10_000
    private static let rounds = 50

    /// The starts of items.
    private final class Starts: Sendable {
        private let times = Mutex<[Int: ContinuousClock.Instant]>([:])

        func began(_ number: Int) {
            let now = ContinuousClock.now
            times.withLock { $0[number] = $0[number] ?? now }
        }

        subscript(number: Int) -> ContinuousClock.Instant? { times.withLock { $0[number] } }
    }

    private struct Item: Workload {
        static let name: WorkloadName = "item"
        struct Parameters: Codable, Sendable { var number: Int }
        let starts: Starts

        func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
            starts.began(parameters.number)
            spin(for: .milliseconds(1))
            return .finished
        }
    }

    static func run(in folder: String) async throws {
        for (name, store) in try stores(in: folder, "promotion") {
            let scheduler = try QoSScheduler()
            let starts = Starts()
            let host = try WorkloadHost(store: store, scheduler: scheduler, workloads: [Item(starts: starts)])
            let requests = try (0..<count).map { number in
                try WorkloadRequest(for: Item.self, .init(number: number), level: .background)
            }
            let items = try await host.submit(requests)
            let begin = ContinuousClock.now
            let running = scheduler.startDetachedTask(at: .userInitiated) { try await host.run() }
            while starts[0] == nil { try await Task.sleep(for: .milliseconds(1)) }
            var times: [Double] = []
            for round in 0..<rounds {
                // From the far half, spread, so that none of them has its turn before.
                let number = count / 2 + round * (count / 2 / rounds)
                let asked = ContinuousClock.now
                let raised = scheduler.startDetachedTask(at: .userInitiated) {
                    try await items[number].raise(to: .userInitiated)
                }
                try await raised.value
                while starts[number] == nil { try await Task.sleep(for: .microseconds(200)) }
                times.append(((starts[number] ?? asked) - asked) / .milliseconds(1))
                // Background work has the processors again.
                try await Task.sleep(for: .milliseconds(10))
            }
            times.sort()
            say("D \(name), promoted, median", times[rounds / 2], "ms", .atMost(10))
            say("D \(name), promoted, worst of \(rounds)", times[rounds - 1], "ms", .atMost(10))
            // The item in the middle of the rest has had no promotion.
            let plain = count / 2 - 1
            while starts[plain] == nil { try await Task.sleep(for: .milliseconds(1)) }
            say("D \(name), not promoted", ((starts[plain] ?? begin) - begin) / .milliseconds(1), "ms")
            host.stop()
            try await running.value
            try await scheduler.shutdown(within: .seconds(30))
        }
    }
}
