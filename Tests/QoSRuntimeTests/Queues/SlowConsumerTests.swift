import Glibc
import QoSCore
import QoSEventLoop
import QoSFileTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Events beside a slow loop", .timeLimit(.minutes(5)))
struct SlowConsumerTests {
    @Test("firings of a timer are merged into one element")
    func timer() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let firings = queue.timerEvents(after: .zero, repeating: .milliseconds(1), tolerance: .zero)
            for await _ in queue.timerEvents(after: .milliseconds(10), tolerance: .zero) {}
            var seen: [Int] = []
            for await count in firings {
                seen.append(count)
                if seen.count == 2 { break }
            }
            // Ten firings are due before the end of the wait. How many of them the first element has depends on the loop.
            #expect(seen[0] + seen[1] >= 10)
        }
    }

    @Test("arrivals of a signal are merged into one element")
    func signals() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let arrivals = try await queue.signalEvents(SIGWINCH)
            for _ in 0..<10 {
                // One after the other, so that the kernel does not merge them.
                let arrived = Gate()
                let source = try await queue.makeSignalSource(SIGWINCH) { _ in arrived.open() }
                kill(getpid(), SIGWINCH)
                await arrived.passed()
                source.cancel()
            }
            try await scheduler.core.loop.perform {}
            try await queue.run {}
            var seen: [Int] = []
            for await count in arrivals {
                seen.append(count)
                if seen.reduce(0, +) >= 10 { break }
            }
            #expect(seen.count == 2)
        }
    }

    @Test("changes of a directory are merged into one element")
    func files() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let folder = try TemporaryFolder("qos-source")
            let changes = try await queue.fileEvents(folder.path)
            for number in 0..<10 {
                let told = Gate()
                let source = try await queue.makeFileSource(folder.path) { _ in told.open() }
                try folder.write("file\(number)")
                await told.passed()
                source.cancel()
            }
            try await scheduler.core.loop.perform {}
            try await queue.run {}
            var (elements, names) = (0, Set<String>())
            for await change in changes {
                elements += 1
                names.formUnion(change.names)
                if names.count == 10 { break }
            }
            #expect(elements == 2)
        }
    }

    @Test("a task that is cancelled while it awaits an event goes on, and the source ends")
    func cancelled() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let buffer = EventBuffer<Int>()
            let source = queue.makeTimer(after: .seconds(3_600)) { _ in }
            let stream = buffer.stream(of: source)
            let task = Task { for await _ in stream {} }
            task.cancel()
            await task.value
            #expect(source.isCancelled)
        }
    }

    @Test("an event that is there when the sequence ends comes before its end; each is handled once, when it is taken")
    func order() async {
        let buffer = EventBuffer<Int>()
        let taken = Tally()
        buffer.put(1) { taken.add() }
        buffer.finish()
        #expect(taken.value == 0)
        #expect(await buffer.next() == 1)
        #expect(taken.value == 1)
        #expect(await buffer.next() == nil)
    }
}
