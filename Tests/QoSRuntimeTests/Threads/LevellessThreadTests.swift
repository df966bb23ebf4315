import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A thread without a level", .timeLimit(.minutes(2)))
struct LevellessThreadTests {
    enum Wait: CaseIterable {
        case item, turn, mutex
    }

    @Test("C1 it waits at the level of default, and so raises work of a paused lower class", arguments: Wait.allCases)
    func raises(_ wait: Wait) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", level: .background)
            let holder = Holder()
            if wait == .mutex { await holder.begin(on: scheduler.globalQueue(for: .background)) }
            scheduler.setWidthLimit(0, for: .background)
            if wait == .mutex {
                while !scheduler.core.group.pools[QoSClass.background.rank].hasWaiting { await Task.yield() }
            }
            let item = WorkItem { #expect(QoS.currentLevel == .default) }
            if wait != .mutex { try queue.async(item) }
            let thread = QoSThread(name: "none") {
                #expect(QoS.currentLevel == nil)
                switch wait {
                case .item: try item.blockUntilFinished()
                case .turn: try queue.sync {}
                case .mutex: holder.mutex.withLock { _ in }
                }
                #expect(QoS.currentLevel == nil)
            }
            try thread.start()
            // The holder sleeps at its checkpoint, and sees this only when it is promoted.
            holder.isOver.open()
            try await thread.value
            scheduler.setWidthLimit(nil, for: .background)
        }
    }

    /// Work of the background that holds a mutex, and waits at a checkpoint while its class is paused. In a serial queue
    /// it would not wait there.
    private final class Holder: Sendable {
        let mutex = QoSMutex(())
        let isOver = Gate()
        private let begun = Gate()

        func begin(on queue: WorkQueue) async {
            queue.async {
                self.mutex.withLock { _ in
                    self.begun.open()
                    while !self.isOver.isOpen { QoS.checkpoint() }
                }
            }
            await begun.passed()
        }
    }
}
