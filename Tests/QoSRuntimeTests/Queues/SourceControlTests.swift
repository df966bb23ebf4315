import Glibc
import QoSCore
import QoSEventLoop
import QoSFileTestSupport
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Control over event sources", .timeLimit(.minutes(5)))
struct SourceControlTests {
    @Test("a handler cancels its own source, also from an item that it runs synchronously")
    func cancelsItself() async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (scheduler.makeQueue("queue"), scheduler.makeQueue("other"))
            let (calls, ended) = (Tally(), Gate())
            #expect(WorkSource.current == nil)
            let timer = queue.makeTimer(after: .zero, repeating: .microseconds(100), tolerance: .zero) { _ in
                guard calls.add() == 3 else { return }
                #expect(throws: Never.self) { try other.sync { WorkSource.current?.cancel() } }
                ended.open()
            }
            await ended.passed()
            #expect(timer.isCancelled)
            for await _ in queue.timerEvents(after: .milliseconds(2), tolerance: .zero) {}
            #expect(calls.value == 3)
        }
    }

    @Test("a look at the running source does not end it")
    func looks() async throws {
        try await withScheduler { scheduler in
            let (calls, done) = (Tally(), Gate())
            let timer = scheduler.makeQueue("queue").makeTimer(after: .zero, repeating: .microseconds(100)) { _ in
                _ = WorkSource.current
                if calls.add() == 3 { done.open() }
            }
            await done.passed()
            timer.cancel()
        }
    }

    @Test("a suspended timer's handler is not called until it is resumed as often, and then once for all deadlines")
    func suspendsTimer() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let (counts, called) = (Collected<Int>(), Gate())
            // Set only once it is suspended: it would fire before, if this thread is held up.
            let timer = queue.makeTimer(after: .seconds(3_600)) {
                counts.append($0)
                called.open()
            }
            timer.suspend()
            timer.suspend()
            let begun = MonotonicClock.nanoseconds()
            try timer.schedule(after: .milliseconds(1), repeating: .milliseconds(1), tolerance: .zero)
            for await _ in queue.timerEvents(after: .milliseconds(6), tolerance: .zero) {}
            try timer.resume()
            try await queue.run {}
            #expect(counts.all.isEmpty)
            try timer.resume()
            await called.passed()
            timer.cancel()
            #expect(
                counts.all[0] >= 5 && UInt64(counts.all[0]) <= (MonotonicClock.nanoseconds() - begun) / 1_000_000 + 1)
            #expect(throws: WorkQueueError.sourceNotSuspended) { try timer.resume() }
        }
    }

    @Test("a suspended descriptor's handler is called when it is resumed")
    func suspendsDescriptor() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let ends = try Pipe()
            let (calls, called) = (Tally(), Gate())
            let source = try await queue.makeDescriptorSource(ends.reading, for: .readable) { _ in
                ends.read()
                calls.add()
                called.open()
            }
            source.suspend()
            ends.write()
            _ = try await queue.readiness(of: ends.other, for: .readable)
            try await queue.run {}
            #expect(calls.value == 0)
            try source.resume()
            await called.passed()
            #expect(calls.value == 1)
            source.cancel()
        }
    }

    @Test("a timer that has fired is set again, and one that is set is replaced")
    func schedules() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let counts = Collected<Int>()
            let (first, second) = (Gate(), Gate())
            let timer = queue.makeTimer(after: .seconds(3_600)) { count in
                counts.append(count)
                if !first.isOpen { first.open() } else { second.open() }
            }
            try timer.schedule(after: .zero)
            await first.passed()
            try timer.schedule(after: .milliseconds(1), tolerance: .zero)
            await second.passed()
            #expect(counts.all == [1, 1])
            timer.cancel()
            try timer.schedule(after: .zero)
            for await _ in queue.timerEvents(after: .milliseconds(2), tolerance: .zero) {}
            #expect(counts.all == [1, 1])
        }
    }

    @Test("a handler sets its own timer again, with delays of its own")
    func schedulesItself() async throws {
        try await withScheduler { scheduler in
            let (calls, done) = (Tally(), Gate())
            let timer = scheduler.makeQueue("queue").makeTimer(after: .zero) { _ in
                if calls.add() == 5 { return done.open() }
                #expect(throws: Never.self) { try WorkSource.current?.schedule(after: .microseconds(50 * calls.value)) }
            }
            await done.passed()
            #expect(!timer.isCancelled)
        }
    }

    @Test("synchronous code makes every kind of source, and is told what cannot be watched")
    func synchronously() async throws {
        try await withScheduler { scheduler in
            let (queue, maker) = (scheduler.makeQueue("queue"), scheduler.makeQueue("maker"))
            let folder = try TemporaryFolder("qos-source")
            let ends = try Pipe()
            let (signal, descriptor, file) = (Gate(), Gate(), Gate())
            let sources = try await maker.run { () throws -> [WorkSource] in
                [
                    try queue.makeSignalSource(SIGWINCH) { _ in signal.open() },
                    try queue.makeDescriptorSource(ends.reading, for: .readable) { _ in
                        ends.read()
                        descriptor.open()
                    },
                    try queue.makeFileSource(folder.path) { _ in file.open() },
                ]
            }
            kill(getpid(), SIGWINCH)
            ends.write()
            try folder.write("file")
            for gate in [signal, descriptor, file] { await gate.passed() }
            for source in sources {
                #expect(throws: WorkQueueError.sourceIsNoTimer) { try source.schedule(after: .zero) }
                source.cancel()
            }
            try await maker.run {
                #expect(throws: WorkQueueError.self) { try queue.makeSignalSource(SIGKILL) { _ in } }
                #expect(throws: WorkQueueError.self) { try queue.makeFileSource("/no/such/file") { _ in } }
                #expect(throws: WorkQueueError.self) { try queue.makeDescriptorSource(-1, for: .readable) { _ in } }
            }
        }
    }

    @Test("a descriptor in an error state is told of once")
    func failed() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let ends = try Pipe()
            ends.closeReading()
            let seen = Collected<DescriptorReadiness>()
            let first = Gate()
            let source = try await queue.makeDescriptorSource(ends.writing, for: .writable) {
                seen.append($0)
                first.open()
            }
            await first.passed()
            // As many turns of loop and queue as further calls would take.
            for _ in 0..<20 {
                try await scheduler.core.loop.perform {}
                try await queue.run {}
            }
            source.cancel()
            #expect(seen.all == [.failed])
        }
    }

    @Test("a handler that closes its descriptor before it cancels the source does no harm")
    func closesFirst() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let ends = try Pipe()
            let (called, goOn) = (Gate(), Gate())
            let source = try await queue.makeDescriptorSource(ends.reading, for: .readable) { _ in
                if called.isOpen { return }
                ends.closeReading()
                called.open()
                goOn.blockThread()
            }
            ends.write()
            await called.passed()
            goOn.open()
            // The loop is asked to watch the descriptor again in between.
            for _ in 0..<5 {
                try await queue.run {}
                try await scheduler.core.loop.perform {}
            }
            source.cancel()
        }
    }

    @Test("two sources watch one descriptor")
    func twoOfOne() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let ends = try Pipe()
            let called = [Gate(), Gate()]
            var sources: [WorkSource] = []
            for gate in called {
                sources.append(try await queue.makeDescriptorSource(ends.reading, for: .readable) { _ in gate.open() })
            }
            ends.write()
            for gate in called { await gate.passed() }
            for source in sources { source.cancel() }
        }
    }

    @Test("a delayed item that is cancelled ends at once, and what it holds goes with it")
    func cancelsDelayed() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            weak var held: Tally?
            let notified = Gate()
            do {
                let tally = Tally()
                held = tally
                let item = WorkItem { tally.add() }
                item.notify(on: queue) { notified.open() }
                try queue.async(after: .seconds(3_600), item)
                item.cancel()
                await item.waitUntilFinished()
                #expect(tally.value == 0)
            }
            await notified.passed()
            try await queue.run {}
            #expect(held == nil)
        }
    }
}

/// Two pipes: one to be watched, and one that is readable.
private final class Pipe: Sendable {
    let reading: Int32
    let writing: Int32
    let other: Int32
    private let otherWriting: Int32
    private let isReadingOpen = Lock(true)

    init() throws {
        var (ends, others): ([Int32], [Int32]) = ([0, 0], [0, 0])
        try #require(unsafe pipe(&ends) == 0 && pipe(&others) == 0)
        (reading, writing, other, otherWriting) = (ends[0], ends[1], others[0], others[1])
        _ = unsafe Glibc.write(otherWriting, [1] as [UInt8], 1)
    }

    deinit {
        closeReading()
        for end in [writing, other, otherWriting] { close(end) }
    }

    func closeReading() {
        let wasOpen = isReadingOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { close(reading) }
    }

    func read() {
        var byte: UInt8 = 0
        _ = unsafe Glibc.read(reading, &byte, 1)
    }

    func write() {
        _ = unsafe Glibc.write(writing, [1] as [UInt8], 1)
    }
}
