import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import Synchronization
import Testing

@Suite("A work queue", .timeLimit(.minutes(5)))
struct WorkQueueTests {
    @Test("B1 a serial queue runs its items one at a time, in the order of submission")
    func serialOrder() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("serial")
            let order = Collected<Int>()
            let inside = Atomic(0)
            let overlaps = Tally()
            for number in 0..<5_000 {
                // Levels go up and down: the order stays.
                queue.async(level: QoSLevel(QoSClass.allCases[number % 5])) {
                    if inside.add(1, ordering: .relaxed).oldValue != 0 { overlaps.add() }
                    order.append(number)
                    inside.subtract(1, ordering: .relaxed)
                }
            }
            try await queue.run {}
            #expect(order.all == Array(0..<5_000))
            #expect(overlaps.value == 0)
        }
    }

    @Test("B1 a concurrent queue runs items at the same time")
    func concurrent() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("concurrent", .concurrent, level: .default)
            let (first, second) = (Gate(), Gate())
            queue.async {
                first.open()
                second.blockThread()
            }
            queue.async {
                first.blockThread()
                second.open()
            }
            await first.passed()
            await second.passed()
        }
    }

    @Test("B11 a barrier runs alone, after all before it, before all after it")
    func barrier() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("concurrent", .concurrent)
            let (before, after, wrong) = (Tally(), Tally(), Tally())
            for round in 1...50 {
                for _ in 0..<20 { queue.async { before.add() } }
                queue.asyncBarrier {
                    if before.value != round * 20 || after.value != (round - 1) * 20 { wrong.add() }
                }
                for _ in 0..<20 { queue.async { after.add() } }
            }
            try await queue.run(flags: .barrier) {}
            #expect(wrong.value == 0)
            #expect(after.value == 1_000)
        }
    }

    @Test("B1 the level is fixed at creation and readable")
    func level() async throws {
        try await withScheduler { scheduler in
            let level = QoSLevel(.utility, relativePriority: .lowest)
            #expect(scheduler.makeQueue("with", level: level).level == level)
            #expect(scheduler.makeQueue("without").level == nil)
            let target = scheduler.globalQueue(for: .background)
            try #expect(scheduler.makeQueue("targets global", target: target).level == .background)
            let other = scheduler.makeQueue("other", level: .utility)
            try #expect(scheduler.makeQueue("targets other", target: other).level == nil)
        }
    }

    @Test("B2 there is one global queue for each class", arguments: QoSClass.allCases)
    func global(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.globalQueue(for: qosClass)
            #expect(queue === scheduler.globalQueue(for: qosClass))
            #expect(queue.level == QoSLevel(qosClass))
            try await #expect(queue.quietly { CurrentThread.qosClass } == qosClass)
            let ran = Gate()
            queue.async { ran.open() }
            await ran.passed()
        }
    }

    @Test("B5 B6 an item runs in the pool of its level, and submits with it", arguments: QoSClass.allCases)
    func poolAndContext(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            for kind in [WorkQueue.Kind.serial, .concurrent] {
                let queue = scheduler.makeQueue("queue", kind)
                let seen = await withCheckedContinuation { continuation in
                    queue.async(level: QoSLevel(qosClass)) {
                        let outer = (CurrentThread.qosClass, QoS.currentLevel)
                        queue.async {
                            continuation.resume(returning: (outer, QoS.currentLevel))
                        }
                    }
                }
                #expect(seen.0.0 == qosClass)
                #expect(seen.0.1 == QoSLevel(qosClass))
                #expect(seen.1 == QoSLevel(qosClass == .userInteractive ? .userInitiated : qosClass))
            }
        }
    }

    @Test("B3 a queue that targets a serial one excludes the others that target it")
    func targets() async throws {
        try await withScheduler { scheduler in
            let target = scheduler.makeQueue("target")
            let queues = try (0..<4).map { number in
                try scheduler.makeQueue("\(number)", number < 2 ? .serial : .concurrent, target: target)
            }
            let inside = Atomic(0)
            let (overlaps, ran) = (Tally(), Tally())
            for number in 0..<4_000 {
                queues[number % 4].async(level: QoSLevel(QoSClass.allCases[number % 5])) {
                    if inside.add(1, ordering: .relaxed).oldValue != 0 { overlaps.add() }
                    ran.add()
                    inside.subtract(1, ordering: .relaxed)
                }
            }
            for queue in queues { try await queue.run(flags: .barrier) {} }
            #expect(ran.value == 4_000)
            #expect(overlaps.value == 0)
        }
    }

    @Test("B3 a cycle of targets is refused, by its name, and nothing changes")
    func cycle() async throws {
        try await withScheduler { scheduler in
            let names = ["a", "b", "c"]
            let queues = names.map { scheduler.makeQueue($0) }
            try queues[0].setTarget(queues[1])
            try queues[1].setTarget(queues[2])
            #expect(throws: WorkQueueError.targetCycle(["c", "a", "b", "c"])) { try queues[2].setTarget(queues[0]) }
            #expect(throws: WorkQueueError.targetCycle(["a", "a"])) { try queues[0].setTarget(queues[0]) }
            try await #expect(queues[0].run { 1 } == 1)
        }
    }

    @Test("B3 a target is set before the first submission, on queues of one scheduler, and not on a global queue")
    func targetRefused() async throws {
        try await withScheduler { scheduler in
            let (queue, target) = (scheduler.makeQueue("queue"), scheduler.makeQueue("target"))
            try queue.suspend()
            queue.async {}
            #expect(throws: WorkQueueError.queueHasWork("queue")) { try queue.setTarget(target) }
            try queue.resume()
            try await queue.run {}
            let global = scheduler.globalQueue(for: .utility)
            #expect(throws: WorkQueueError.globalQueue("global utility")) { try global.setTarget(target) }
            try await withScheduler { other in
                let far = other.makeQueue("far")
                #expect(throws: WorkQueueError.otherScheduler("queue")) { try queue.setTarget(far) }
                return
            }
        }
    }

    @Test(
        "nothing begins on a suspended queue, and all of it when it is resumed",
        arguments: [WorkQueue.Kind.serial, .concurrent])
    func suspension(_ kind: WorkQueue.Kind) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", kind)
            let (begun, goOn) = (Gate(), Gate())
            queue.async {
                begun.open()
                goOn.blockThread()
            }
            await begun.passed()
            try queue.suspend()
            try queue.suspend()
            let ran = Tally()
            for _ in 0..<10 { queue.async { ran.add() } }
            goOn.open()
            try queue.resume()
            // What would run now would do so before an item of another queue at the same level has come back.
            try await scheduler.makeQueue("other").run {}
            #expect(ran.value == 0)
            try queue.resume()
            try await queue.run(flags: .barrier) {}
            #expect(ran.value == 10)
            #expect(throws: WorkQueueError.notSuspended("queue")) { try queue.resume() }
        }
    }

    @Test("a global queue cannot be suspended or resumed")
    func globalSuspension() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.globalQueue(for: .utility)
            #expect(throws: WorkQueueError.globalQueue("global utility")) { try queue.suspend() }
            #expect(throws: WorkQueueError.globalQueue("global utility")) { try queue.resume() }
        }
    }

    @Test("a queue that is released finishes its work, also when it was suspended", arguments: [false, true])
    func released(suspended: Bool) async throws {
        try await withScheduler { scheduler in
            let (ran, last) = (Tally(), Gate())
            do {
                let queue = scheduler.makeQueue("released")
                if suspended { try queue.suspend() }
                for _ in 0..<1_000 { queue.async { ran.add() } }
                queue.async { last.open() }
            }
            await last.passed()
            #expect(ran.value == 1_000)
        }
    }

    @Test("a million items in a queue all run", .tags(.slow), arguments: [WorkQueue.Kind.serial, .concurrent])
    func million(_ kind: WorkQueue.Kind) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("long", kind, level: .default)
            let ran = Tally()
            for _ in 0..<1_000_000 { queue.async { ran.add() } }
            try await queue.run(flags: .barrier) {}
            #expect(ran.value == 1_000_000)
        }
    }

    @Test("after the scheduler's end items run elsewhere, still one at a time")
    func afterShutdown() async throws {
        let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        let queue = scheduler.makeQueue("left over")
        try await scheduler.shutdown()
        let order = Collected<Int>()
        for number in 0..<500 { queue.async { order.append(number) } }
        try await queue.run {}
        #expect(order.all == Array(0..<500))
    }

    @Test("run throws what the closure throws, and does not run it for a cancelled task")
    func awaiting() async throws {
        struct Failure: Error {}
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            await #expect(throws: Failure.self) { try await queue.run { throw Failure() } }
            try queue.suspend()
            let ran = Tally()
            let task = Task { try await queue.run { ran.add() } }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try queue.resume()
            try await queue.run {}
            #expect(ran.value == 0)
        }
    }
}
