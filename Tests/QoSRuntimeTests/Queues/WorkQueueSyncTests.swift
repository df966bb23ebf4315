import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Synchronous submission", .timeLimit(.minutes(5)))
struct WorkQueueSyncTests {
    private struct Failure: Error {}

    @Test("B7 on an idle queue it runs on the calling thread", arguments: [WorkQueue.Kind.serial, .concurrent])
    func callingThread(_ kind: WorkQueue.Kind) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("idle", kind)
            let chained = try scheduler.makeQueue("chained", kind, target: queue)
            for queue in [queue, chained, scheduler.globalQueue(for: .background)] {
                let (caller, inside) = (CurrentThread.id, try queue.sync { CurrentThread.id })
                #expect(caller == inside)
            }
        }
    }

    @Test("it returns what the closure returns and throws what it throws")
    func results() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            try #expect(queue.sync { 7 } == 7)
            #expect(throws: Failure.self) { try queue.sync { throw Failure() } }
            try #expect(queue.sync { 8 } == 8)
        }
    }

    @Test(
        "B7 the body runs at the item's level or the thread's, whichever is higher; the thread is as before afterwards")
    func level() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", level: .userInteractive)
            try await scheduler.globalQueue(for: .utility).quietly {
                #expect(QoS.currentLevel == .utility)
                try queue.sync { #expect(QoS.currentLevel == .utility) }
                try queue.sync(level: .userInitiated) { #expect(QoS.currentLevel == .userInitiated) }
                try queue.sync(level: .background) { #expect(QoS.currentLevel == .utility) }
                try queue.sync(level: .userInitiated, flags: .inheritQoS) { #expect(QoS.currentLevel == .utility) }
                #expect(QoS.currentLevel == .utility)
            }
        }
    }

    @Test(
        "B7 again and again on an idle queue: each closure has the turn alone, among others that wait and items that run"
    )
    func turnsExclude() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("counted")
            let inside = Tally()
            let overlaps = Tally()
            let refused = Tally()
            let threads = try (0..<4).map { number in
                try RunningThread(name: "sync-\(number)") {
                    for round in 0..<2000 {
                        let body: @Sendable () -> Void = {
                            if inside.add() % 2 == 0 { overlaps.add() }
                            inside.add()
                        }
                        if round % 8 == number { queue.async(body) }
                        do { try queue.sync(body) } catch { refused.add() }
                    }
                }
            }
            for thread in threads { try thread.join() }
            try queue.sync {}
            #expect(overlaps.value == 0)
            #expect(refused.value == 0)
            #expect(inside.value == 2 * 4 * (2000 + 250))
        }
    }

    @Test("B7 a closure that throws gives the turn back, also when it has been on the queue before")
    func throwsInTurn() async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (scheduler.makeQueue("queue"), scheduler.makeQueue("other"))
            for _ in 0..<3 {
                #expect(throws: Failure.self) { try queue.sync { throw Failure() } }
                #expect(throws: Failure.self) { try queue.sync { try other.sync { throw Failure() } } }
            }
            try #expect(queue.sync { try other.sync { QoS.currentLevel } } == QoS.currentLevel)
        }
    }

    @Test("I3 a high item behind a turn on the calling thread raises what it submits with, on each such turn anew")
    func raisedTurn() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            try await scheduler.globalQueue(for: .utility).quietly {
                for _ in 0..<3 {
                    try queue.sync {
                        #expect(QoS.currentLevel == .utility)
                        queue.async(level: .userInitiated) {}
                        #expect(QoS.currentLevel == .userInitiated)
                    }
                    try queue.sync {}
                    #expect(QoS.currentLevel == .utility)
                    try queue.sync { #expect(QoS.currentLevel == .utility) }
                }
            }
        }
    }

    @Test("a queue on which turns were taken synchronously goes when its last reference does")
    func released() async throws {
        try await withScheduler { scheduler in
            weak var core: QueueCore?
            do {
                let queue = scheduler.makeQueue("short-lived")
                for _ in 0..<3 { try queue.sync {} }
                core = queue.core
            }
            #expect(core == nil)
        }
    }

    @Test("a busy queue makes it wait for its turn")
    func waitsForTurn() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("busy")
            let (begun, goOn) = (Gate(), Gate())
            let order = Collected<Int>()
            queue.async {
                begun.open()
                goOn.blockThread()
                order.append(1)
            }
            queue.async { order.append(2) }
            await begun.passed()
            let thread = try RunningThread(name: "waits") { try? queue.sync { order.append(3) } }
            goOn.open()
            try thread.join()
            #expect(order.all == [1, 2, 3])
        }
    }

    @Test("sync onto the own serial queue is an error and not a deadlock, also through others and through targets")
    func ownQueue() async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (scheduler.makeQueue("own"), scheduler.makeQueue("other"))
            let above = try scheduler.makeQueue("above", target: queue)
            let ran = Tally()
            try await queue.run {
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.sync { ran.add() } }
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try above.sync { ran.add() } }
                try other.sync {
                    #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.sync { ran.add() } }
                }
            }
            try await above.run {
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.sync { ran.add() } }
            }
            try queue.sync {
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.sync { ran.add() } }
            }
            try above.sync {
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.sync { ran.add() } }
            }
            #expect(ran.value == 0)
            try #expect(queue.sync { true })
        }
    }

    @Test("on a concurrent queue an item may submit to its own queue, but no barrier")
    func ownConcurrentQueue() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("own", .concurrent)
            try await queue.run {
                try #expect(queue.sync { true })
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.sync(flags: .barrier) {} }
                queue.asyncBarrier {}
                // The barrier waits for this item, which therefore may not wait behind the barrier.
                try #expect(queue.sync { true })
            }
            try await queue.run(flags: .barrier) {
                #expect(throws: WorkQueueError.wouldDeadlock("own")) { try queue.sync {} }
            }
        }
    }

    @Test("a worker that waits runs what stands before it itself: the last worker of a pool does not wait for ever")
    func lastWorker() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, workers: [.utility: 1], appliesKernelEffects: false)
        try await withScheduler(configuration) { scheduler in
            let global = scheduler.globalQueue(for: .utility)
            let target = scheduler.makeQueue("target")
            let queues = [
                scheduler.makeQueue("serial"), scheduler.makeQueue("concurrent", .concurrent),
                try scheduler.makeQueue("chained", target: target),
                try scheduler.makeQueue("chained concurrent", .concurrent, target: target),
            ]
            for queue in queues {
                let order = Collected<Int>()
                try await global.quietly {
                    for number in 0..<100 { queue.async { order.append(number) } }
                    try queue.sync(flags: .barrier) { order.append(100) }
                }
                #expect(order.all.count == 101)
                #expect(order.all.last == 100)
            }
            try await global.quietly {
                let item = WorkItem {}
                try global.async(item)
                try item.blockUntilFinished()
                #expect(item.isFinished)
            }
        }
    }
}
