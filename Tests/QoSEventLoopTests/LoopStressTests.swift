import Foundation
import QoSEventLoop
import Synchronization
import Testing

@Suite("An event loop under many threads", .tags(.libuv))
struct LoopStressTests {
    /// Threads that use a loop in all ways, until they are told to end.
    final class Crowd: Sendable {
        let accepted = Atomic(0)
        let refused = Atomic(0)
        let ran = Atomic(0)
        private let goesOn = Atomic(true)

        func use(_ loop: EventLoop) {
            while goesOn.load(ordering: .relaxed) {
                loop.wake()
                loop.armTimer(atNanoseconds: 1)
                do throws(EventLoopError) {
                    try loop.submit { [self] in ran.add(1, ordering: .relaxed) }
                    accepted.add(1, ordering: .relaxed)
                } catch {
                    refused.add(1, ordering: .relaxed)
                }
            }
        }

        func end() {
            goesOn.store(false, ordering: .relaxed)
        }
    }

    @Test("ends while four threads wake it, arm its timer and submit: each accepted body ran, each other was refused")
    func endsUnderLoad() async throws {
        for _ in 0..<30 {
            let crowd = Crowd()
            let began = Events()
            let loop = try EventLoop(onWake: {}, onTimer: { began.report() })
            let thread = LoopThread(loop)
            let ended = Events()
            for _ in 0..<4 {
                Thread.detachNewThread {
                    crowd.use(loop)
                    ended.report()
                }
            }
            began.wait()
            loop.stop()
            try thread.join()
            // The loop is gone; the threads go on for a while.
            while crowd.refused.load(ordering: .relaxed) < 100 {
                await Task.yield()
            }
            crowd.end()
            ended.wait(for: 4)
            #expect(crowd.ran.load(ordering: .relaxed) == crowd.accepted.load(ordering: .relaxed))
        }
    }

    @Test("no wake-up is lost: after each, onWake sees what was written before it")
    func losesNoWakeUp() async throws {
        let written = Atomic(0)
        let seen = Atomic(0)
        let caughtUp = Events()
        try await withRunningLoop(onWake: {
            let value = written.load(ordering: .relaxed)
            if seen.exchange(value, ordering: .relaxed) != value {
                caughtUp.report()
            }
        }) { loop in
            for value in 1...20_000 {
                written.store(value, ordering: .relaxed)
                loop.wake()
                // Would wait for ever if the wake-up were lost.
                while seen.load(ordering: .relaxed) != value {
                    caughtUp.wait()
                }
            }
        }
        #expect(seen.load(ordering: .relaxed) == 20_000)
    }

    @Test("watches may be made and dropped from all threads while the loop ends")
    func dropsWatchesUnderLoad() async throws {
        for _ in 0..<20 {
            let loop = try EventLoop(onWake: {})
            let thread = LoopThread(loop)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<50 {
                            // Refused once the loop ended.
                            _ = try? await loop.perform { () throws(EventLoopError) in try loop.watchSignal(23) {} }
                        }
                    }
                }
                group.addTask { loop.stop() }
            }
            try thread.join()
        }
    }
}
