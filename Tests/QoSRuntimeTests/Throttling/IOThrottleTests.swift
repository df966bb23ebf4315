import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The throttle of file I/O", .timeLimit(.minutes(5)))
struct IOThrottleTests {
    @Test("S4 a piece is at most what was asked for, and its class pays", arguments: QoSClass.allCases)
    func pieces(qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let throttle = IOThrottle()
            let granted = try await scheduler.run(at: qosClass) {
                try await throttle.perform(bytes: 5000) { $0 }
            }
            #expect(granted == 5000)
            #expect(throttle.usage(of: qosClass).operations == 1 && throttle.usage(of: qosClass).bytes == 5000)
            #expect(throttle.usage(of: qosClass).delayed == 0)
        }
    }

    @Test("S4 a stopped class waits until the limit is lifted")
    func stopped() async throws {
        try await withScheduler { scheduler in
            let throttle = IOThrottle()
            throttle.setLimits(bytesPerSecond: 0, operationsPerSecond: nil, for: .background)
            #expect(throttle.limits(for: .background).bytesPerSecond == 0)
            let done = Collected<Int>()
            let tasks = (0..<5).map { number in
                scheduler.startTask(at: .background) {
                    try await throttle.perform(bytes: 10) { _ in done.append(number) }
                }
            }
            _ = try await scheduler.run(at: .utility) { try await throttle.perform(bytes: 1) { $0 } }
            #expect(done.all.isEmpty)
            throttle.setLimits(bytesPerSecond: nil, operationsPerSecond: nil, for: .background)
            for task in tasks { try await task.value }
            #expect(done.all.sorted() == Array(0..<5))
            // The waiting test may have raised some of them meanwhile.
            #expect(QoSClass.allCases.reduce(0) { $0 + throttle.usage(of: $1).operations } == 6)
        }
    }

    @Test("S4 files are synchronized while a piece of their class is under way, so that they share a commit")
    func synchronizesBesidePieces() async throws {
        try await withScheduler { scheduler in
            let throttle = IOThrottle()
            // A request of the foreground that goes on for longer than the background keeps off.
            let request = try await scheduler.run(at: .userInitiated) { try await throttle.begin(bytes: 1) }
            let piece = try await scheduler.run(at: .background) { try await throttle.begin(bytes: 4096) }
            #expect(piece.isAlone)
            let calls = (0..<3).map { number in
                scheduler.startTask(at: .background) { try? await throttle.perform(bytes: 0) { _ in number } }
            }
            for (number, call) in calls.enumerated() { #expect(await call.escaped == number) }
            throttle.end(piece)
            throttle.end(request)
        }
    }

    @Test("S4 cancelled pieces do not begin, and keep nobody from going on")
    func cancelled() async throws {
        try await withScheduler { scheduler in
            let throttle = IOThrottle()
            throttle.setLimits(bytesPerSecond: 0, operationsPerSecond: nil, for: .background)
            let tasks = (0..<6).map { _ in
                scheduler.startTask(at: .background) { try await throttle.perform(bytes: 10) { $0 } }
            }
            for task in tasks { task.cancel() }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
            #expect(throttle.usage(of: .background).operations == 0)
            throttle.setLimits(bytesPerSecond: nil, operationsPerSecond: nil, for: .background)
            let granted = try await scheduler.run(at: .background) { try await throttle.perform(bytes: 7) { $0 } }
            #expect(granted == 7, "the line is free")
        }
    }

    @Test("I4 S4 a waiting piece whose work is raised has the rights of the higher class")
    func raised() async throws {
        try await withScheduler { scheduler in
            let throttle = IOThrottle()
            throttle.setLimits(bytesPerSecond: 0, operationsPerSecond: nil, for: .background)
            // The first one has the line, the second one waits behind it. Only the second one is awaited.
            let first = scheduler.startTask(at: .background) { try await throttle.perform(bytes: 10) { $0 } }
            let second = scheduler.startTask(at: .background) { try await throttle.perform(bytes: 20) { $0 } }
            let granted = try await scheduler.startTask(at: .userInitiated) { try await second.value }.value
            #expect(granted == 20)
            #expect(throttle.usage(of: .userInitiated).bytes == 20 && throttle.usage(of: .background).operations == 0)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
        }
    }

    @Test("S4 an error of the body ends its piece")
    func errors() async throws {
        struct Failure: Error {}
        let throttle = IOThrottle()
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await throttle.perform(bytes: 1) { _ throws in throw Failure() } }
        }
        #expect(throttle.usage(of: .default).operations == 3)
    }

    @Test("S2 S4 a monitor sets the limits of its decision, and lifts them at its end")
    func governed() async throws {
        try await withScheduler { scheduler in
            let throttle = IOThrottle()
            throttle.setLimits(bytesPerSecond: 77, operationsPerSecond: nil, for: .default)
            var configuration = SimulatedMachine().configuration
            configuration.ioThrottle = throttle
            let monitor = try SystemMonitor(governing: scheduler, configuration: configuration, isDrivenByHand: true)
            monitor.overrides.pressure[.io] = .severe
            monitor.tick(at: SchedulerInstant(nanoseconds: 1_000_000_000))
            #expect(throttle.limits(for: .background) == (2 << 20, 25))
            #expect(throttle.limits(for: .utility) == (16 << 20, 200))
            #expect(throttle.limits(for: .default) == (77, nil), "a class that is not governed keeps its own")
            monitor.stop()
            #expect(throttle.limits(for: .background) == (nil, nil))
            #expect(throttle.limits(for: .default) == (77, nil))
        }
    }
}
