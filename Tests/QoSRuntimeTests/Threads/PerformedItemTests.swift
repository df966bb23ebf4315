import CQoSShims
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    @Suite("Waits for an item that a thread performs, or submits synchronously")
    struct PerformedItemTests {
        private func makeScheduler(_ stage: LockKernelStage) throws -> QoSScheduler {
            var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
            configuration.schedulingCalls = stage.calls
            return try QoSScheduler(configuration: configuration)
        }

        /// An item that runs until it is let go.
        private final class Running: Sendable {
            let begun = Gate()
            let goOn = Gate()
            let ids = Collected<UInt32>()
            let item: WorkItem

            init(level: QoSLevel? = nil) {
                item = WorkItem(level: level) { [begun, goOn, ids] in
                    ids.append(cqos_own_id())
                    begun.open()
                    goOn.blockThread()
                }
            }
        }

        enum Way: CaseIterable {
            case performed, onIdleQueue, onBusyQueue
        }

        @Test(
            "I5 an item that waits for itself gets an error, performed or submitted synchronously",
            arguments: Way.allCases)
        func waitsForItself(_ way: Way) throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try makeScheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let itself = Lock<WorkItem?>(nil)
                let errors = Collected<WorkQueueError>()
                let item = WorkItem {
                    // Taken out: the two refer to each other.
                    let item = itself.withLock { $0.take() }
                    do throws(WorkQueueError) { try item?.blockUntilFinished() } catch { errors.append(error) }
                }
                itself.withLock { $0 = item }
                let busy = Running()
                if way == .onBusyQueue {
                    try queue.async(busy.item)
                    busy.begun.blockThread()
                }
                let thread = QoSThread(name: "submitter") {
                    if way == .performed { item.perform() } else { try queue.sync(item) }
                }
                try thread.start()
                if way == .onBusyQueue { while queue.waitingCount == 0 { cqosPause() } }
                busy.goOn.open()
                try thread.join()
                #expect(errors.all == [.wouldDeadlock(way == .performed ? "perform()" : "queue")])
                #expect(item.isFinished)
            }
        }

        @Test(
            "I1 I2 a thread that performs an item is raised while a higher one waits for the item, as long as it waits")
        func raisesPerformer() throws {
            try LockKernelStage.with(.all) { stage in
                let (running, nice, ids) = (Running(), Collected<Int>(), Collected<UInt32>())
                // It waits before the item begins.
                let early = QoSThread(name: "early", level: .userInitiated) {
                    ids.append(cqos_own_id())
                    try running.item.blockUntilFinished()
                }
                try early.start()
                while !ids.all.contains(where: { LockRegistry.shared.isWaiting(.thread($0)) }) { cqosPause() }
                let low = QoSThread(name: "low", level: .background) {
                    running.item.perform()
                    nice.append(try stage.ownNice)
                }
                try low.start()
                running.begun.blockThread()
                let id = running.ids.all[0]
                while try stage.nice(of: id) != LockKernelStage.nice(.userInitiated) { cqosPause() }
                let brief = QoSThread(name: "brief", level: .userInteractive) {
                    try running.item.blockUntilFinished(within: .milliseconds(1))
                }
                try brief.start()
                #expect(try brief.join() == false)
                #expect(running.item.effectiveLevel == .userInitiated)
                let late = QoSThread(name: "late", level: .userInteractive) { try running.item.blockUntilFinished() }
                try late.start()
                while try stage.nice(of: id) != LockKernelStage.nice(.userInteractive) { cqosPause() }
                while running.item.effectiveLevel != .userInteractive { cqosPause() }
                running.goOn.open()
                for thread in [early, late] { try thread.join() }
                try low.join()
                #expect(nice.all == [LockKernelStage.nice(.background)])
            }
        }

        @Test("I1 B13 who waits for an item that waits for its turn in sync raises the items before it")
        func raisesBeforeSync() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try makeScheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let (before, item) = (Running(level: .background), WorkItem {})
                try queue.async(before.item)
                before.begun.blockThread()
                let submitter = QoSThread(name: "submitter", level: .utility) { try queue.sync(item) }
                try submitter.start()
                while before.item.effectiveLevel != .utility { cqosPause() }
                let high = QoSThread(name: "high", level: .userInteractive) { try item.blockUntilFinished() }
                try high.start()
                while before.item.effectiveLevel != .userInteractive { cqosPause() }
                before.goOn.open()
                try submitter.join()
                try high.join()
            }
        }

        @Test("I1 B13 who waits for an item that runs in sync raises the turn in which it runs")
        func raisesSync() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try makeScheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let (running, nice) = (Running(), Collected<Int>())
                let submitter = QoSThread(name: "submitter", level: .utility) {
                    try queue.sync(running.item)
                    nice.append(try stage.ownNice)
                }
                try submitter.start()
                running.begun.blockThread()
                let high = QoSThread(name: "high", level: .userInteractive) { try running.item.blockUntilFinished() }
                try high.start()
                let id = running.ids.all[0]
                while try stage.nice(of: id) != LockKernelStage.nice(.userInteractive) { cqosPause() }
                running.goOn.open()
                try high.join()
                try submitter.join()
                #expect(nice.all == [LockKernelStage.nice(.utility)])
            }
        }

        @Test("I5 over a thread that performs an item: the wait that closes the circle is refused, or the other one")
        func circle() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try makeScheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let (inTurn, begun, errors) = (Gate(), Gate(), Collected<WorkQueueError>())
                let item = WorkItem {
                    begun.open()
                    inTurn.blockThread()
                    do { try queue.sync {} } catch { if let error = error as? WorkQueueError { errors.append(error) } }
                }
                let performer = QoSThread(name: "performer") { item.perform() }
                try performer.start()
                begun.blockThread()
                let waiter = QoSThread(name: "waiter") {
                    try queue.sync {
                        inTurn.open()
                        do throws(WorkQueueError) { try item.blockUntilFinished() } catch { errors.append(error) }
                    }
                }
                try waiter.start()
                try performer.join()
                try waiter.join()
                #expect(errors.all.count == 1)
                guard case .deadlock(let waits)? = errors.all.first else { throw errors.all[0] }
                #expect(waits.contains { $0.contains("a work item") } && waits.contains { $0.contains("'queue'") })
            }
        }

        @Test("I1 I2 a raise goes on over a thread that waits for an item with a deadline")
        func overDeadline() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try makeScheduler(stage)
                let (queue, lock) = (scheduler.makeQueue("queue"), SharedMutex())
                let running = Running(level: .background)
                try queue.async(running.item)
                running.begun.blockThread()
                let middle = QoSThread(name: "middle", level: .utility) {
                    try lock.mutex.withLock { _ in try running.item.blockUntilFinished(within: .seconds(3_600)) }
                }
                try middle.start()
                while running.item.effectiveLevel != .utility { cqosPause() }
                let high = QoSThread(name: "high", level: .userInteractive) { lock.mutex.withLock { _ in } }
                try high.start()
                while running.item.effectiveLevel != .userInteractive { cqosPause() }
                running.goOn.open()
                #expect(try middle.join())
                try high.join()
            }
        }

        @Test("I5 a wait with a deadline closes no circle: the thread that waits for the waiter gets on")
        func deadlineIsNoCircle() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try makeScheduler(stage)
                let (queue, lock) = (scheduler.makeQueue("queue"), SharedMutex())
                let (isHeld, behind) = (Gate(), WorkItem {})
                let middle = QoSThread(name: "middle", level: .utility) {
                    try lock.mutex.withLock { _ in
                        isHeld.open()
                        lock.waiters(1)
                        return try behind.blockUntilFinished(within: .milliseconds(20))
                    }
                }
                let turn = QoSThread(name: "turn", level: .utility) {
                    try queue.sync {
                        try queue.async(behind)
                        try middle.start()
                        isHeld.blockThread()
                        try lock.mutex.withCheckedLock { _ in }
                    }
                }
                try turn.start()
                try turn.join()
                #expect(try middle.join() == false)
            }
        }
    }
}
