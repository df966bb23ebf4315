import Foundation
import QoSSQLiteStore
import Synchronization

/// E: two items keep the processors busy at background, in steps of ten milliseconds with `breathe()` between them. The
/// time from a signal to the last instruction of both.
struct DeferralBench {
    private static let step = Duration.milliseconds(10)
    private static let rounds = 200

    /// The last moment at which an item ran, and the number of its steps.
    private final class Trace: Sendable {
        private let state = Mutex((last: ContinuousClock.now, steps: 0))

        func ran() {
            let now = ContinuousClock.now
            state.withLock { $0.last = max($0.last, now) }
        }

        func stepped() { state.withLock { $0.steps += 1 } }

        var last: ContinuousClock.Instant { state.withLock { $0.last } }
        var steps: Int { state.withLock { $0.steps } }
    }

    private struct Endless: Workload {
        static let name: WorkloadName = "endless"
        struct Parameters: Codable, Sendable {}
        let trace: Trace

        func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
            while true {
                try await context.breathe()
                trace.stepped()
                let end = ContinuousClock.now + step
                while ContinuousClock.now < end { trace.ran() }
            }
        }
    }

    /// A condition that the benchmark opens and closes.
    private final class Switch: ConditionSource {
        private let isMet = Mutex(true)
        private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

        func verdict(on condition: WorkloadCondition) -> ConditionVerdict {
            isMet.withLock { $0 } ? .met : .unmet("the benchmark needs the processors")
        }

        func changes() -> AsyncStream<Void> { stream }

        func set(_ value: Bool) {
            isMet.withLock { $0 = value }
            continuation.yield()
        }
    }

    static func run(in folder: String) async throws {
        for (name, store) in try stores(in: folder, "deferral") {
            let scheduler = try QoSScheduler(configuration: .init(workers: [.background: 2]))
            let trace = Trace()
            let condition = Switch()
            var configuration = WorkloadHost.Configuration()
            configuration.conditions = condition
            let host = try WorkloadHost(
                store: store, scheduler: scheduler, workloads: [Endless(trace: trace)], configuration: configuration)
            let request = try WorkloadRequest(
                for: Endless.self, .init(), level: .background, conditions: [.named("idle")])
            _ = try await host.submit([request, request])
            let running = scheduler.startDetachedTask(at: .userInitiated) { try await host.run() }
            try await measure("E \(name), a condition", trace) { condition.set(!$0) }
            try await measure("E \(name), a pause", trace) { isSignal in
                if isSignal {
                    try await host.pause(Endless.name, because: "the benchmark")
                } else {
                    try await host.resume(Endless.name)
                }
            }
            host.stop()
            try await running.value
            try await scheduler.shutdown(within: .seconds(30))
        }
    }

    private static func measure(_ name: String, _ trace: Trace, _ signal: (Bool) async throws -> Void) async throws {
        var times: [Double] = []
        for round in 0..<rounds {
            let steps = trace.steps
            while trace.steps < steps + 4 { try await Task.sleep(for: .milliseconds(1)) }
            // At any moment of a step.
            try await Task.sleep(for: .microseconds(round * 97 % 10_000))
            let begin = ContinuousClock.now
            try await signal(true)
            var last = trace.last
            repeat {
                last = trace.last
                try await Task.sleep(for: .milliseconds(60))
            } while trace.last != last
            times.append(max(0, (last - begin) / .milliseconds(1)))
            try await signal(false)
        }
        times.sort()
        say("\(name), median", times[rounds / 2], "ms")
        say("\(name), p99 of \(rounds)", times[rounds * 99 / 100], "ms", .atMost(50))
        say("\(name), worst", times[rounds - 1], "ms")
    }
}
