import CQoSShims
import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Groups, parallel loops and once", .timeLimit(.minutes(5)))
struct WorkGroupTests {
    @Test("B14 a group tells when all have ended: to threads, to tasks, to queues")
    func groups() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", .concurrent)
            let (group, ran) = (WorkGroup(), Tally())
            let (goOn, notified) = (Gate(), Gate())
            for _ in 0..<50 {
                queue.async(in: group) {
                    goOn.blockThread()
                    ran.add()
                }
            }
            let seen = Collected<Int>()
            group.notify(on: scheduler.globalQueue(for: .default), level: .utility) {
                seen.append(ran.value)
                notified.open()
            }
            #expect(!isEmpty(group, within: .zero))
            let thread = try RunningThread(name: "waits") {
                #expect(throws: Never.self) { try group.blockUntilFinished() }
                seen.append(ran.value)
            }
            goOn.open()
            await group.waitUntilFinished()
            await notified.passed()
            try thread.join()
            #expect(seen.all == [50, 50])
            #expect(isEmpty(group, within: .seconds(-1)))
        }
    }

    private func isEmpty(_ group: WorkGroup, within timeout: Duration) -> Bool {
        group.blockUntilFinished(within: timeout)
    }

    @Test("B14 a group that is left more often than entered throws, and stays as it is")
    func unbalanced() async throws {
        let group = WorkGroup()
        #expect(throws: WorkQueueError.unbalancedLeave) { try group.leave() }
        group.enter()
        try group.leave()
        #expect(throws: WorkQueueError.unbalancedLeave) { try group.leave() }
        group.enter()
        #expect(!isEmpty(group, within: .zero))
        try group.leave()
        await group.waitUntilFinished()
    }

    @Test("B14 apply calls its closure once for each number", arguments: [0, -1, 1, 2, 1_000])
    func apply(count: Int) async throws {
        try await withScheduler { scheduler in
            let target = scheduler.makeQueue("target")
            let queues = [
                scheduler.makeQueue("serial"), scheduler.makeQueue("concurrent", .concurrent),
                scheduler.globalQueue(for: .utility),
                try scheduler.makeQueue("chained", .concurrent, target: target),
            ]
            for queue in queues {
                let numbers = Collected<Int>()
                func blocking() throws { try queue.apply(count) { numbers.append($0) } }
                try blocking()
                try await queue.apply(count) { numbers.append($0) }
                let expected = (0..<max(0, count)).flatMap { [$0, $0] }
                #expect(numbers.all.sorted() == expected)
            }
        }
    }

    @Test("B14 apply runs on several threads, and may be nested")
    func applyTogether() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("concurrent", .concurrent)
            let (first, second) = (Gate(), Gate())
            let inner = Tally()
            try await queue.quietly {
                try queue.apply(2) { number in
                    (number == 0 ? first : second).open()
                    (number == 0 ? second : first).blockThread()
                    #expect(throws: Never.self) { try queue.apply(100) { _ in inner.add() } }
                }
            }
            #expect(inner.value == 200)
        }
    }

    @Test("B14 parallel loops leave no more in a paused pool than can help them at once, however many there are")
    func applyInPausedPool() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.globalQueue(for: .utility)
            scheduler.setWidthLimit(0, for: .utility)
            let ran = Tally()
            let thread = QoSThread(name: "loops", level: .utility) {
                for _ in 0..<1_000 { try queue.apply(4) { _ in ran.add() } }
            }
            try thread.start()
            try await thread.value
            #expect(ran.value == 4_000)
            scheduler.setWidthLimit(nil, for: .utility)
            try await queue.quietly {}
            let run = scheduler.snapshot.pools.first { $0.qosClass == .utility }?.jobsRun ?? 0
            #expect(run <= 8, "\(run) jobs were left")
        }
    }

    @Test("I1 who waits for the caller of a parallel loop raises those that help with it")
    func applyRaises() async throws {
        try await withScheduler { scheduler in
            let loop = scheduler.makeQueue("loop", .concurrent)
            let (callers, begun, both, done) = (Collected<UInt32>(), Tally(), Gate(), Gate())
            let item = WorkItem(level: .default) {
                callers.append(cqos_own_id())
                try? loop.apply(2) { _ in
                    if begun.add() == 2 { both.open() }
                    both.blockThread()
                    if callers.all == [cqos_own_id()] { return }
                    while QoS.currentLevel != .userInitiated { cqosPause() }
                }
            }
            try scheduler.makeQueue("queue").async(item)
            await both.passed()
            while LockRegistry.shared.entry(of: .thread(callers.all[0]))?.awaiting == nil { await Task.yield() }
            scheduler.globalQueue(for: .userInitiated).async {
                try? item.blockUntilFinished()
                done.open()
            }
            await done.passed()
        }
    }

    @Test("B14 apply onto the own serial queue is an error")
    func applyOwnQueue() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("own")
            try await queue.quietly {
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.apply(10) { _ in } }
            }
        }
    }

    @Test("B14 apply in a cancelled task leaves out what has not begun")
    func applyCancelled() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", .concurrent)
            let (ran, begun, goOn) = (Tally(), Gate(), Gate())
            let task = Task {
                try await queue.apply(100) { _ in
                    ran.add()
                    begun.open()
                    goOn.blockThread()
                }
            }
            await begun.passed()
            task.cancel()
            goOn.open()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(ran.value < 100)
        }
    }

    @Test("B14 once runs once, and all have it behind them")
    func once() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", .concurrent)
            for _ in 0..<200 {
                let (once, ran, wrong) = (Once(), Tally(), Tally())
                try await queue.apply(8) { _ in
                    try? once.run { ran.add() }
                    if ran.value != 1 || !once.hasRun { wrong.add() }
                }
                #expect(ran.value == 1)
                #expect(wrong.value == 0)
            }
        }
    }

    @Test("B14 once that throws has not run; once within itself is an error")
    func onceThrows() throws {
        struct Failure: Error {}
        let once = Once()
        #expect(throws: Failure.self) { try once.run { throw Failure() } }
        #expect(!once.hasRun)
        try once.run {
            #expect(throws: WorkQueueError.wouldDeadlock("once")) { try once.run {} }
        }
        #expect(once.hasRun)
        try once.run { Issue.record("it runs a second time") }
    }

    @Test("I2 who waits for once raises the task that runs it, until the closure has run")
    func onceRaisesTask() async throws {
        try await withScheduler { scheduler in
            let once = Once()
            let (begun, levels) = (Gate(), Collected<QoSLevel?>())
            let low = Task.detached(executorPreference: scheduler.executor(for: .background)) {
                try? once.run {
                    levels.append(QoS.currentLevel)
                    begun.open()
                    while QoS.currentLevel == .background { cqosPause() }
                    levels.append(QoS.currentLevel)
                }
                levels.append(QoS.currentLevel)
            }
            await begun.passed()
            let high = Task.detached(executorPreference: scheduler.executor(for: .userInitiated)) {
                try? once.run { Issue.record("it runs a second time") }
            }
            await high.escaped
            await low.escaped
            #expect(levels.all == [.background, .userInitiated, .background])
        }
    }

    @Test("I1 who waits for once raises the item that runs it")
    func onceRaises() async throws {
        try await withScheduler { scheduler in
            let once = Once()
            let (begun, goOn, done) = (Gate(), Gate(), Gate())
            let item = WorkItem(level: .background) {
                try? once.run {
                    begun.open()
                    goOn.blockThread()
                }
            }
            try scheduler.makeQueue("queue").async(item)
            await begun.passed()
            scheduler.globalQueue(for: .userInitiated).async {
                try? once.run {}
                done.open()
            }
            while item.effectiveLevel != .userInitiated { await Task.yield() }
            goOn.open()
            await done.passed()
        }
    }
}
