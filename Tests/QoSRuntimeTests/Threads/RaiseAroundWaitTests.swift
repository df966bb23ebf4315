import CQoSShims
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    @Suite("A raise around the beginning or the end of a wait")
    struct RaiseAroundWaitTests {
        /// A target that ends at once, and notes its raises.
        private final class Target: ThreadAwaited {
            let changes = Collected<String>()

            var blockers: [UInt32] { [] }
            var awaitedName: String { "target" }
            func raised(to level: LevelCode) { changes.append("raised to \(level.rank)") }
            func lowered(from level: LevelCode) { changes.append("lowered from \(level.rank)") }
        }

        @Test("I1 I2 a raise before the wait is passed on, also if the level of the wait contains it already")
        func raisedBeforeTheWait() throws {
            try LockKernelStage.with(.all) { _ in
                let (lock, target, isHeld) = (SharedMutex(), Target(), Gate())
                let holder = QoSThread(name: "holder", level: .utility) {
                    try lock.mutex.withLock { _ in
                        isHeld.open()
                        while LockRegistry.raised(.utility) != .userInteractive { cqosPause() }
                        let wait = ThreadWait()
                        wait.parker.unpark()
                        try LockRegistry.shared.sleep(wait, awaiting: target, at: .userInteractive) { _ in }
                    }
                }
                try holder.start()
                isHeld.blockThread()
                let high = QoSThread(name: "high", level: .userInteractive) { lock.mutex.withLock { _ in } }
                try high.start()
                try holder.join()
                try high.join()
                let rank = QoSClass.userInteractive.rank
                #expect(target.changes.all == ["raised to \(rank)", "lowered from \(rank)"])
            }
        }

        @Test("I2 a raise whose demand ended before it was performed leaves nothing in the registry")
        func performedLate() {
            LockKernelStage.with(.all) { _ in
                let id = cqos_own_id()
                let raise = LockRegistry.shared.raiseOrNew(ofThread: id)
                #expect(LockRaise(party: .thread(id), means: .thread(raise)).perform() == nil)
                #expect(LockRegistry.shared.contents == [])
            }
        }
    }
}
