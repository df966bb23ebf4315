import Glibc
import QoSCore
import QoSFileTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The life of event sources", .timeLimit(.minutes(5)))
struct SourceLifetimeTests {
    @Test("whoever awaits events goes on when the scheduler ends, and sources made after that have ended")
    func shutdown() async throws {
        let scheduler = try QoSScheduler(configuration: .init(processors: 1, appliesKernelEffects: false))
        let queue = scheduler.makeQueue("late")
        let signals = try await queue.signalEvents(SIGURG)
        let folder = try TemporaryFolder("qos-source")
        let files = try await queue.fileEvents(folder.path)
        let timer = queue.timerEvents(after: .seconds(3600))
        let waiting = Task {
            async let first: Void = { for await _ in signals {} }()
            async let second: Void = { for await _ in timer {} }()
            for await _ in files {}
            _ = await (first, second)
        }
        try await scheduler.shutdown()
        await waiting.value
        for await _ in queue.timerEvents(after: .seconds(3600)) {}
        await #expect(throws: WorkQueueError.self) { _ = try await queue.signalEvents(SIGURG) }
    }

    @Test("on a concurrent queue too, a handler is called only after its last call has returned")
    func oneAtATime() async throws {
        try await withScheduler(.init(processors: 4, appliesKernelEffects: false)) { scheduler in
            let queue = scheduler.makeQueue("queue", .concurrent)
            let (inside, overlaps, calls) = (Tally(), Tally(), Tally())
            let (first, done) = (Gate(), Gate())
            let free = Gate()
            let left = Tally()
            let timer = queue.makeTimer(after: .zero, repeating: .microseconds(100), tolerance: .zero) { _ in
                if inside.add() != left.value + 1 { overlaps.add() }
                if calls.add() == 1 {
                    first.open()
                    free.blockThread()
                }
                left.add()
                if calls.value >= 20 { done.open() }
            }
            await first.passed()
            // Firings come in while the first call is held up.
            for await _ in queue.timerEvents(after: .milliseconds(5), tolerance: .zero) {}
            free.open()
            await done.passed()
            timer.cancel()
            #expect(overlaps.value == 0)
        }
    }

    @Test("a source that was cancelled, and what its handler holds, go at once, however far its deadline")
    func goes() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            weak var held: Tally?
            do {
                let tally = Tally()
                held = tally
                _ = queue.makeTimer(after: .seconds(3600)) { _ in tally.add() }
            }
            #expect(held == nil)
        }
    }

    @Test("what happened to a directory keeps a bounded number of names, and says that there were more")
    func manyNames() {
        func change(_ name: String) -> FileChanges {
            FileChanges(changed: true, names: [name])
        }
        var all = change("0")
        for number in 1..<FileChanges.maximumNames { all = all.merged(with: change("\(number)")) }
        #expect(all.names.count == FileChanges.maximumNames)
        #expect(!all.merged(with: all).hasMoreNames)
        let more = all.merged(with: change("more"))
        #expect(more.names.count == FileChanges.maximumNames && more.hasMoreNames)
    }
}
