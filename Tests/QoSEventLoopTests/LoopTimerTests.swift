import QoSEventLoop
import Synchronization
import Testing

@Suite("The loop's timer", .tags(.libuv))
struct LoopTimerTests {
    @Test("S6 fires on the loop's thread and never early", arguments: [0, 1, 1000, 300_000, 2_000_000] as [UInt64])
    func neverEarly(delay: UInt64) async throws {
        let fired = Events()
        let moment = Atomic<UInt64>(0)
        try await withRunningLoop(onTimer: {
            moment.store(boottimeNow(), ordering: .releasing)
            fired.report()
        }) { loop in
            let deadline = boottimeNow() + delay
            loop.armTimer(atNanoseconds: deadline)
            fired.wait()
            #expect(moment.load(ordering: .acquiring) >= deadline)
        }
    }

    @Test("a moment in the past fires at once", arguments: [0, 1, 1_000_000_000] as [UInt64])
    func past(moment: UInt64) async throws {
        let fired = Events()
        try await withRunningLoop(onTimer: { fired.report() }) { loop in
            loop.armTimer(atNanoseconds: moment)
            fired.wait()
        }
    }

    @Test("an earlier moment replaces a later one, though the loop already waits")
    func replaces() async throws {
        let fired = Events()
        try await withRunningLoop(onTimer: { fired.report() }) { loop in
            loop.armTimer(atNanoseconds: .max)
            try await loop.perform {}
            loop.armTimer(atNanoseconds: boottimeNow() + 1000)
            fired.wait()
        }
    }

    @Test("fires once for each time it is armed, also when its own closure arms it")
    func rearms() async throws {
        let fired = Events()
        let holder = Mutex<EventLoop?>(nil)
        let count = Atomic(0)
        try await withRunningLoop(onTimer: {
            if count.add(1, ordering: .relaxed).newValue < 100 {
                holder.withLock { $0 }?.armTimer(atNanoseconds: 1)
            }
            fired.report()
        }) { loop in
            holder.withLock { $0 = loop }
            loop.armTimer(atNanoseconds: 1)
            fired.wait(for: 100)
            holder.withLock { $0 = nil }
        }
        #expect(count.load(ordering: .relaxed) == 100)
    }

    @Test("a disarmed timer does not fire")
    func disarms() async throws {
        let fired = Atomic(false)
        try await withRunningLoop(onTimer: { fired.store(true, ordering: .relaxed) }) { loop in
            try await loop.perform {
                // On the loop's thread, so that the loop cannot look in between.
                loop.armTimer(atNanoseconds: 1)
                loop.armTimer(atNanoseconds: nil)
            }
            for _ in 0..<3 {
                try await loop.perform {}
                await Task.yield()
            }
        }
        #expect(fired.load(ordering: .relaxed) == false)
    }
}
