import Glibc
import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Event sources", .timeLimit(.minutes(5)))
struct WorkSourceTests {
    @Test("B10 S6 a timer fires at its deadlines, never early, detached")
    func timer() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", level: .utility)
            let begun = MonotonicClock.nanoseconds()
            let (count, done, levels) = (Tally(), Gate(), Collected<QoSLevel?>())
            let times = Collected<(UInt64, Int)>()
            let timer = queue.makeTimer(after: .milliseconds(2), repeating: .milliseconds(1), tolerance: .zero) {
                firings in
                times.append((MonotonicClock.nanoseconds(), firings))
                levels.append(QoS.currentLevel)
                if count.add() == 5 { done.open() }
            }
            await done.passed()
            timer.cancel()
            var firings: UInt64 = 0
            for (time, more) in times.all {
                firings += UInt64(more)
                #expect(time >= begun + 2_000_000 + (firings - 1) * 1_000_000)
            }
            #expect(Set(levels.all) == [.utility])
        }
    }

    @Test("a timer in the past fires at once; a cancelled one does not")
    func timerPast() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            var seen: [Int] = []
            for await firings in queue.timerEvents(after: .seconds(-5)) { seen.append(firings) }
            #expect(seen == [1])
            let ran = Tally()
            try queue.suspend()
            queue.makeTimer(after: .milliseconds(1)) { _ in ran.add() }.cancel()
            try queue.resume()
            for await _ in queue.timerEvents(after: .milliseconds(5), tolerance: .zero) {}
            #expect(ran.value == 0)
        }
    }

    @Test("firings that the handler does not come to are merged")
    func timerMerges() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let (counts, done) = (Collected<Int>(), Gate())
            try queue.suspend()
            let timer = queue.makeTimer(after: .zero, repeating: .milliseconds(1), tolerance: .zero) { firings in
                counts.append(firings)
                done.open()
            }
            for await _ in scheduler.makeQueue("other").timerEvents(after: .milliseconds(5), tolerance: .zero) {}
            try queue.resume()
            await done.passed()
            timer.cancel()
            #expect(counts.all[0] > 1)
        }
    }

    @Test("a signal comes to its handler, and to whoever awaits it")
    func signals() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", level: .userInitiated)
            let (arrived, level) = (Gate(), Collected<QoSLevel?>())
            let source = try await queue.makeSignalSource(SIGWINCH) { _ in
                level.append(QoS.currentLevel)
                arrived.open()
            }
            let events = try await queue.signalEvents(SIGWINCH)
            kill(getpid(), SIGWINCH)
            await arrived.passed()
            for await count in events {
                #expect(count >= 1)
                break
            }
            source.cancel()
            #expect(level.all.first == .userInitiated)
        }
    }

    @Test("a signal that cannot be caught is refused with what to do about it")
    func refused() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            await #expect(throws: WorkQueueError.self) { try await queue.makeSignalSource(SIGKILL) { _ in } }
            await #expect(throws: WorkQueueError.self) { try await queue.makeFileSource("/no/such/file") { _ in } }
            await #expect(throws: WorkQueueError.self) { try await queue.readiness(of: -1, for: .readable) }
        }
    }

    @Test("a descriptor's handler is called as long as it is ready, and not before it has returned")
    func descriptors() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            var ends: [Int32] = [0, 0]
            #expect(unsafe pipe(&ends) == 0)
            let (reading, writing) = (ends[0], ends[1])
            defer { for end in [reading, writing] { close(end) } }
            let (bytes, done) = (Collected<UInt8>(), Gate())
            let source = try await queue.makeDescriptorSource(reading, for: .readable) { ready in
                #expect(ready.contains(.readable))
                var byte: UInt8 = 0
                if unsafe read(reading, &byte, 1) == 1 { bytes.append(byte) }
                if bytes.all.count == 3 { done.open() }
            }
            #expect(unsafe write(writing, [UInt8]([1, 2, 3]), 3) == 3)
            await done.passed()
            source.cancel()
            #expect(bytes.all == [1, 2, 3])
            let ready = try await queue.readiness(of: writing, for: .writable)
            #expect(ready.contains(.writable))
        }
    }

    @Test("a change of a file comes to its handler")
    func files() async throws {
        try await withScheduler { scheduler in
            let folder = try TemporaryFolder("qos-source")
            try folder.write("file")
            let queue = scheduler.makeQueue("queue")
            let events = try await queue.fileEvents(folder["file"])
            try folder.write("file", "text")
            for await changes in events {
                #expect(changes.changed)
                break
            }
        }
    }
}
