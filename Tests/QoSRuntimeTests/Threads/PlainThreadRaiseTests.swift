import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    @Suite("Threads that are no workers and run the turn of a queue")
    struct PlainThreadRaiseTests {
        private func scheduler(_ stage: LockKernelStage) throws -> QoSScheduler {
            var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
            configuration.schedulingCalls = stage.calls
            return try QoSScheduler(configuration: configuration)
        }

        private func waitUntil(_ condition: () throws -> Bool) rethrows {
            while try !condition() { cqosPause() }
        }

        private static let raises: @Sendable () -> Bool = {
            LockRegistry.shared.raises.isEmpty
        }

        /// A thread of a level that runs a queue's turn until a gate opens, with its nice values in the turn and after.
        private func turn(
            of queue: WorkQueue, level: QoSLevel?, _ stage: LockKernelStage, nice: Collected<Int>, until goOn: Gate,
            _ within: @escaping @Sendable () throws -> Void = {}
        ) throws -> (thread: QoSThread<Void>, id: UInt32) {
            let ids = Collected<UInt32>()
            let thread = QoSThread(name: "low", level: level) {
                try queue.sync {
                    ids.append(UInt32(bitPattern: ThreadID.current.rawValue))
                    goOn.blockThread()
                    nice.append(try stage.ownNice)
                    try within()
                }
                nice.append(try stage.ownNice)
            }
            try thread.start()
            waitUntil { !ids.all.isEmpty }
            return (thread, ids.all[0])
        }

        @Test(
            "I1 B13 a thread that runs a queue's turn is raised in the kernel while a higher one waits for it, and gets its own back"
        )
        func raisedForWaiter() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let (nice, goOn) = (Collected<Int>(), Gate())
                let low = try turn(of: queue, level: .utility, stage, nice: nice, until: goOn)
                #expect(try stage.nice(of: low.id) == LockKernelStage.nice(.utility))
                let high = QoSThread(name: "high", level: .userInitiated) { try queue.sync {} }
                try high.start()
                try waitUntil { try stage.nice(of: low.id) == LockKernelStage.nice(.userInitiated) }
                goOn.open()
                try low.thread.join()
                try high.join()
                #expect(nice.all == [.userInitiated, .utility].map(LockKernelStage.nice))
                waitUntil(Self.raises)
            }
        }

        @Test("I3 B15 a higher item behind it raises the thread, and its own scheduling returns with the turn")
        func raisedForItem() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let (nice, goOn, ran) = (Collected<Int>(), Gate(), Gate())
                let low = try turn(of: queue, level: .background, stage, nice: nice, until: goOn)
                queue.async(level: .userInteractive) { ran.open() }
                try waitUntil { try stage.nice(of: low.id) == LockKernelStage.nice(.userInteractive) }
                goOn.open()
                ran.blockThread()
                try low.thread.join()
                #expect(nice.all == [.userInteractive, .background].map(LockKernelStage.nice))
                waitUntil(Self.raises)
            }
        }

        @Test(
            "B7 what is submitted synchronously at a higher level raises the thread in the kernel, nested as often as one likes"
        )
        func raisesItself() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let (outer, inner) = (scheduler.makeQueue("outer"), scheduler.makeQueue("inner"))
                let nice = Collected<Int>()
                let thread = QoSThread(name: "itself", level: .utility) {
                    for _ in 0..<2 {
                        try outer.sync(level: .default) {
                            nice.append(try stage.ownNice)
                            try inner.sync(level: .userInteractive) { nice.append(try stage.ownNice) }
                            try inner.sync(level: .background) { nice.append(try stage.ownNice) }
                            nice.append(try stage.ownNice)
                        }
                        nice.append(try stage.ownNice)
                    }
                }
                try thread.start()
                try thread.join()
                #expect(
                    nice.all
                        == [
                            .default, .userInteractive, .default, .default, .utility, .default, .userInteractive,
                            .default, .default, .utility,
                        ].map(LockKernelStage.nice))
                #expect(Self.raises())
            }
        }

        @Test("I1 I2 raised for a lock and for a turn at once: each ends by itself, and the higher counts")
        func lockAndTurn() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let lock = SharedMutex()
                let (nice, goOn, isLocked, unlock) = (Collected<Int>(), Gate(), Gate(), Gate())
                let low = try turn(of: queue, level: .utility, stage, nice: nice, until: goOn) {
                    try lock.mutex.withLock { _ in
                        isLocked.open()
                        unlock.blockThread()
                        nice.append(try stage.ownNice)
                    }
                    nice.append(try stage.ownNice)
                }
                let middle = QoSThread(name: "middle", level: .userInitiated) { try queue.sync {} }
                try middle.start()
                try waitUntil { try stage.nice(of: low.id) == LockKernelStage.nice(.userInitiated) }
                goOn.open()
                isLocked.blockThread()
                let high = QoSThread(name: "high", level: .userInteractive) { lock.mutex.withLock { _ in } }
                try high.start()
                try waitUntil { try stage.nice(of: low.id) == LockKernelStage.nice(.userInteractive) }
                unlock.open()
                for thread in [low.thread, middle, high] { try thread.join() }
                #expect(
                    nice.all == [.userInitiated, .userInteractive, .userInitiated, .utility].map(LockKernelStage.nice))
                waitUntil(Self.raises)
            }
        }

        @Test("I1 a wait that ends at its deadline takes the raise back while the turn goes on")
        func lowered() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let (nice, goOn) = (Collected<Int>(), Gate())
                let low = try turn(of: queue, level: .utility, stage, nice: nice, until: goOn)
                let item = WorkItem(level: .utility) {}
                try queue.async(item)
                let high = QoSThread(name: "high", level: .userInitiated) {
                    try item.blockUntilFinished(within: .milliseconds(200))
                }
                try high.start()
                try waitUntil { try stage.nice(of: low.id) == LockKernelStage.nice(.userInitiated) }
                #expect(try high.join() == false)
                #expect(try stage.nice(of: low.id) == LockKernelStage.nice(.utility))
                goOn.open()
                try low.thread.join()
                #expect(nice.all == [.utility, .utility].map(LockKernelStage.nice))
                waitUntil(Self.raises)
            }
        }

        @Test("I2 B7 along a mutex and a queue: whoever runs what the holder waits for is raised too")
        func alongBoth() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let lock = SharedMutex()
                let (nice, goOn, isLocked) = (Collected<Int>(), Gate(), Gate())
                let low = try turn(of: queue, level: .utility, stage, nice: nice, until: goOn)
                let middle = QoSThread(name: "middle", level: .utility) {
                    try lock.mutex.withLock { _ in
                        isLocked.open()
                        try queue.sync {}
                    }
                }
                try middle.start()
                isLocked.blockThread()
                let high = QoSThread(name: "high", level: .userInteractive) { lock.mutex.withLock { _ in } }
                try high.start()
                try waitUntil { try stage.nice(of: low.id) == LockKernelStage.nice(.userInteractive) }
                goOn.open()
                for thread in [low.thread, middle, high] { try thread.join() }
                #expect(nice.all == [.userInteractive, .utility].map(LockKernelStage.nice))
                waitUntil(Self.raises)
            }
        }

        @Test(
            "I2 I1 along a queue and a mutex: the holder of what the turn waits for is raised, also when the turn is raised later"
        )
        func alongBothTheOtherWay() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let lock = SharedMutex()
                let (goOn, isLocked) = (Gate(), Gate())
                let ids = Collected<UInt32>()
                let holder = QoSThread(name: "holder", level: .utility) {
                    lock.mutex.withLock { _ in
                        ids.append(UInt32(bitPattern: ThreadID.current.rawValue))
                        isLocked.open()
                        goOn.blockThread()
                    }
                }
                try holder.start()
                isLocked.blockThread()
                let middle = QoSThread(name: "middle", level: .utility) {
                    try queue.sync { lock.mutex.withLock { _ in } }
                }
                try middle.start()
                lock.waiters(1)
                let high = QoSThread(name: "high", level: .userInteractive) { try queue.sync {} }
                try high.start()
                try waitUntil { try stage.nice(of: ids.all[0]) == LockKernelStage.nice(.userInteractive) }
                goOn.open()
                for thread in [holder, middle, high] { try thread.join() }
                waitUntil(Self.raises)
            }
        }

        @Test(
            "I5 C6 where the kernel does not allow it, it is counted and reported with both names; the level is raised all the same"
        )
        func refused() throws {
            try LockKernelStage.with(.none) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("reports")
                let reports = Collected<InversionReport>()
                let token = InversionDetection.listen { reports.append($0) }
                defer { InversionDetection.stop(token) }
                let before = QoSThread.raises
                let (nice, goOn, levels) = (Collected<Int>(), Gate(), Collected<QoSLevel?>())
                let low = try turn(of: queue, level: .utility, stage, nice: nice, until: goOn) {
                    levels.append(QoS.currentLevel)
                }
                let high = QoSThread(name: "high", level: .userInitiated) { try queue.sync {} }
                try high.start()
                waitUntil {
                    reports.all.contains { $0.kind == .unresolvedInversion && $0.resource == "queue 'reports'" }
                }
                goOn.open()
                try low.thread.join()
                try high.join()
                let report = reports.all.first { $0.resource == "queue 'reports'" }
                #expect(report?.waiter.name.contains("'high'") == true)
                #expect(report?.holder.name.contains("'low'") == true)
                #expect(QoSThread.raises.refused > before.refused)
                #expect(QoSThread.raises.effectMode == "oneWay")
                #expect(levels.all == [.userInitiated])
                #expect(Set(nice.all).count == 1)
            }
        }

        @Test("I1 threads that end right after a raised turn, and turns that begin and end while others raise them")
        func races() throws {
            try LockKernelStage.with(.all) { stage in
                let scheduler = try scheduler(stage)
                let queue = scheduler.makeQueue("queue")
                let lock = SharedMutex()
                let before = QoSThread.raises
                let wrong = Tally()
                let levels: [QoSLevel] = [.background, .utility, .default, .userInitiated, .userInteractive]
                for round in 0..<40 {
                    let threads = (0..<5).map { number in
                        QoSThread(name: "race-\(number)", level: levels[number]) {
                            let own = try stage.ownNice
                            for turn in 0..<20 {
                                try queue.sync(level: levels[(round + turn) % 5]) {
                                    if turn % 4 == 0 { lock.mutex.withLock { $0 += 1 } }
                                }
                                if try stage.ownNice != own { wrong.add() }
                            }
                        }
                    }
                    for thread in threads { try thread.start() }
                    for thread in threads { try thread.join() }
                }
                #expect(wrong.value == 0)
                #expect(QoSThread.raises.notTakenBack == before.notTakenBack)
                #expect(QoSThread.raises.raised > before.raised)
                waitUntil(Self.raises)
            }
        }
    }
}
