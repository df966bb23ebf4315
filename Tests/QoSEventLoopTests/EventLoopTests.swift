import Synchronization
import Testing

@testable import QoSEventLoop

@Suite("An event loop", .tags(.libuv))
struct EventLoopTests {
    @Test("the thread that runs the loop is the loop's thread until run returns")
    func threadOfTheLoop() async throws {
        let loop = try EventLoop(onWake: {})
        #expect(!loop.isOnLoopThread)
        let thread = LoopThread(loop)
        #expect(try await loop.perform { loop.isOnLoopThread })
        #expect(!loop.isOnLoopThread)
        loop.stop()
        try thread.join()
        #expect(!loop.isOnLoopThread)
    }

    @Test("a stop before run lets run close everything and return, after the bodies that were submitted")
    func stopBeforeRun() throws {
        let loop = try EventLoop(onWake: {})
        let order = Mutex<[Int]>([])
        try loop.submit { order.withLock { $0.append(1) } }
        loop.stop()
        loop.stop()
        try loop.submit { order.withLock { $0.append(2) } }
        try loop.run()
        #expect(order.withLock { $0 } == [1, 2])
    }

    @Test("running a loop for the second time throws: after its end, from its own thread, from another")
    func runsOnce() async throws {
        let loop = try EventLoop(onWake: {})
        let thread = LoopThread(loop)
        try await loop.perform { () throws(EventLoopError) in
            let error = #expect(throws: EventLoopError.self) { try loop.run() }
            #expect(error?.code == .alreadyRun)
        }
        let second = #expect(throws: EventLoopError.self) { try loop.run() }
        #expect(second?.code == .alreadyRun)
        loop.stop()
        try thread.join()
        let third = #expect(throws: EventLoopError.self) { try loop.run() }
        #expect(third?.code == .alreadyRun)
    }

    @Test("a wake-up calls onWake on the loop's thread")
    func wakes() async throws {
        let woken = Events()
        let loop = try EventLoop(onWake: { woken.report() })
        let thread = LoopThread(loop)
        loop.wake()
        woken.wait()
        loop.stop()
        try thread.join()
    }

    @Test("wake-ups before run coalesce into one call")
    func wakesCoalesce() throws {
        let calls = Atomic(0)
        let loop = try EventLoop(onWake: { calls.add(1, ordering: .relaxed) })
        for _ in 0..<1000 {
            loop.wake()
        }
        loop.stop()
        try loop.run()
        #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test("bodies run on the loop's thread in the order of submission, also those submitted by bodies")
    func bodiesKeepTheirOrder() async throws {
        let order = Mutex<[Int]>([])
        let loop = try EventLoop(onWake: {})
        let done = Events()
        for number in 0..<100 {
            try loop.submit {
                order.withLock { $0.append(loop.isOnLoopThread ? number : -1) }
                guard number == 0 else { return }
                try? loop.submit {
                    order.withLock { $0.append(100) }
                    done.report()
                }
            }
        }
        let thread = LoopThread(loop)
        done.wait()
        loop.stop()
        try thread.join()
        #expect(order.withLock { $0 } == Array(0...100))
    }

    @Test("after the loop acted on a stop, submit and perform throw and wake, stop and armTimer do nothing")
    func afterTheEnd() async throws {
        let calls = Atomic(0)
        let loop = try EventLoop(onWake: { calls.add(1, ordering: .relaxed) })
        let released = Events()
        try loop.submit {
            loop.stop()
        }
        try loop.run()
        let before = calls.load(ordering: .relaxed)
        let rejected = #expect(throws: EventLoopError.self) { try loop.submit { released.report() } }
        #expect(rejected?.code == .stopped)
        let performed = await #expect(throws: EventLoopError.self) { try await loop.perform {} }
        #expect(performed?.code == .stopped)
        loop.wake()
        loop.stop()
        loop.armTimer(atNanoseconds: 0)
        loop.armTimer(atNanoseconds: nil)
        #expect(calls.load(ordering: .relaxed) == before)
    }

    @Test("the last bodies may submit no more, and learn it by an error")
    func lastBodiesSubmitNothing() throws {
        let loop = try EventLoop(onWake: {})
        let code = Mutex<EventLoopError.Code?>(nil)
        try loop.submit {
            do throws(EventLoopError) {
                try loop.submit {}
            } catch {
                code.withLock { $0 = error.code }
            }
        }
        loop.stop()
        try loop.run()
        #expect(code.withLock { $0 } == .stopped)
    }

    @Test("perform on the loop's thread runs at once and hands errors through")
    func performHandsErrorsThrough() async throws {
        try await withRunningLoop { loop in
            let error = await #expect(throws: EventLoopError.self) {
                try await loop.perform { () throws(EventLoopError) in throw EventLoopError.example }
            }
            #expect(error == .example)
        }
    }

    @Test("a loop that never ran closes what it holds and releases what was submitted")
    func dropsWithoutRun() throws {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let held = Token()
            token = held
            let loop = try EventLoop(onWake: { _ = held })
            try loop.submit { _ = held }
            loop.wake()
            loop.armTimer(atNanoseconds: 1)
        }
        #expect(token == nil)
    }
}

extension EventLoopError {
    /// Some error.
    static var example: EventLoopError {
        EventLoopError(.spawn, status: -2)
    }
}
