import CQoSShims
import Glibc
import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Waits over queues and locks that could never end", .serialized, .timeLimit(.minutes(5)))
struct QueueDeadlockTests {
    /// With workers that stand in for those that wait: a thread that is no worker cannot run what it waits for itself.
    private static let standingIn = QoSScheduler.Configuration(processors: 2, appliesKernelEffects: false)

    /// Threads that all stand in one thing each before any of them asks for the next one's.
    private final class Ring: Sendable {
        private let arrived = Tally()
        private let all = Gate()
        private let count: Int
        let errors = Collected<String>()
        let passed = Tally()

        init(_ count: Int) {
            self.count = count
        }

        /// Called within the own turn: waits for the others, then asks for the next one's.
        func ask(_ next: () throws -> Void) {
            if arrived.add() == count { all.open() }
            all.blockThread()
            do {
                try next()
                passed.add()
            } catch {
                errors.append("\(error)")
            }
        }
    }

    private func runAll(_ bodies: [@Sendable () -> Void]) throws {
        let threads = try bodies.enumerated().map { try RunningThread(name: "ring-\($0.offset)", $0.element) }
        for thread in threads { try thread.join() }
    }

    @Test(
        "I5 threads that submit synchronously to one another's queues in a circle: one gets an error that names all, the others go on",
        arguments: [2, 3, 5])
    func queues(_ count: Int) async throws {
        try await withScheduler { scheduler in
            let queues = (0..<count).map { scheduler.makeQueue("q\($0)") }
            let ring = Ring(count)
            let ran = Tally()
            try runAll(
                (0..<count).map { index in
                    { try? queues[index].sync { ring.ask { try queues[(index + 1) % count].sync { _ = ran.add() } } } }
                })
            #expect(ring.errors.all.count == 1)
            #expect(ring.passed.value == count - 1)
            #expect(ran.value == count - 1)
            for index in 0..<count {
                #expect(ring.errors.all.first?.contains("queue 'q\(index)'") == true)
                #expect(ring.errors.all.first?.contains("thread 'ring-\(index)'") == true)
            }
            for queue in queues { try #expect(queue.sync { true }) }
        }
    }

    @Test("I5 the same from items that workers run, which help one another as far as they can")
    func items() async throws {
        try await withScheduler { scheduler in
            let (a, b) = (scheduler.makeQueue("a"), scheduler.makeQueue("b"))
            let ring = Ring(2)
            let group = WorkGroup()
            a.async(in: group) { ring.ask { try b.sync {} } }
            b.async(in: group) { ring.ask { try a.sync {} } }
            await group.waitUntilFinished()
            #expect(ring.errors.all.count == 1)
            #expect(ring.passed.value == 1)
        }
    }

    @Test("I5 over queues and their targets: the turn of the target is what the other one has")
    func targets() async throws {
        try await withScheduler { scheduler in
            let base = scheduler.makeQueue("base")
            let above = try scheduler.makeQueue("above", target: base)
            let other = scheduler.makeQueue("other")
            let ring = Ring(2)
            try runAll([
                { try? base.sync { ring.ask { try other.sync {} } } },
                { try? other.sync { ring.ask { try above.sync {} } } },
            ])
            #expect(ring.errors.all.count == 1)
            #expect(ring.passed.value == 1)
        }
    }

    @Test("I5 over a mutex and a queue, whichever of the two comes last")
    func mutexAndQueue() async throws {
        try await withScheduler { scheduler in
            for _ in 0..<20 {
                let queue = scheduler.makeQueue("queue")
                let lock = SharedMutex(name: "table")
                let ring = Ring(2)
                try runAll([
                    { try? queue.sync { ring.ask { try lock.mutex.withCheckedLock { $0 += 1 } } } },
                    { lock.mutex.withLock { _ in ring.ask { try queue.sync {} } } },
                ])
                #expect(ring.errors.all.count == 1)
                #expect(ring.passed.value == 1)
                let error = ring.errors.all.first ?? ""
                #expect(error.contains("queue 'queue'") && error.contains("mutex 'table'"), "\(error)")
            }
        }
    }

    @Test("I5 over a mutex whose lock cannot be refused: the submission on the circle is, whichever comes last")
    func mutexThatCannotBeRefused() async throws {
        try await withScheduler { scheduler in
            for _ in 0..<20 {
                let queue = scheduler.makeQueue("queue")
                let lock = SharedMutex(name: "table")
                let ring = Ring(2)
                try runAll([
                    { try? queue.sync { ring.ask { lock.mutex.withLock { $0 += 1 } } } },
                    { lock.mutex.withLock { _ in ring.ask { try queue.sync {} } } },
                ])
                #expect(ring.errors.all.count == 1)
                #expect(ring.passed.value == 1)
                let error = ring.errors.all.first ?? ""
                #expect(error.contains("queue 'queue'") && error.contains("mutex 'table'"), "\(error)")
            }
        }
    }

    @Test("I5 a lock that cannot be refused comes last: the sleeping submission throws, and one report is made")
    func unrefusableComesLast() async throws {
        let reports = Collected<InversionReport>()
        let listening = InversionDetection.listen { reports.append($0) }
        defer { InversionDetection.stop(listening) }
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let lock = SharedMutex(name: "unrefusable")
            let (inTurn, ids, errors, passed) = (Gate(), Collected<UInt32>(), Collected<String>(), Tally())
            try runAll([
                {
                    try? queue.sync {
                        inTurn.open()
                        while !ids.all.contains(where: { LockRegistry.shared.isWaiting(.thread($0)) }) { sched_yield() }
                        lock.mutex.withLock { _ in _ = passed.add() }
                    }
                },
                {
                    inTurn.blockThread()
                    lock.mutex.withLock { _ in
                        ids.append(cqos_own_id())
                        do { try queue.sync {} } catch { errors.append("\(error)") }
                    }
                },
            ])
            #expect(errors.all.count == 1)
            #expect(errors.all.first?.contains("mutex 'unrefusable'") == true)
            #expect(passed.value == 1)
            let told = reports.all.filter { $0.kind == .deadlock && $0.explanation.contains("'unrefusable'") }
            #expect(told.count == 1)
        }
    }

    @Test("I5 over an item that is waited for, and over a closure that runs once")
    func itemAndOnce() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let once = Once()
            let ring = Ring(2)
            let item = WorkItem { ring.ask { try once.run {} } }
            try queue.async(item)
            let thread = try RunningThread(name: "once") {
                try? once.run { ring.ask { try item.blockUntilFinished() } }
            }
            try thread.join()
            await item.waitUntilFinished()
            #expect(ring.errors.all.count == 1)
            #expect(ring.passed.value == 1)
            #expect(once.hasRun)
        }
    }

    @Test("I5 over a parallel loop whose helper waits for the turn that the loop's caller has")
    func parallelLoop() async throws {
        try await withScheduler(Self.standingIn) { scheduler in
            for _ in 0..<20 {
                let queue = scheduler.makeQueue("queue")
                let loop = scheduler.makeQueue("loop", .concurrent)
                let ring = Ring(2)
                try await queue.quietly { try loop.apply(2) { _ in ring.ask { try queue.sync {} } } }
                // The caller is refused at once. Its helper would wait for the caller, which waits for the helper.
                #expect(ring.errors.all.count == 2)
                #expect(ring.passed.value == 0)
                #expect(ring.errors.all.count { $0.contains("a parallel loop of queue 'loop'") } == 1)
            }
        }
    }

    @Test("I5 over a parallel loop whose helper sleeps for a checked lock that the loop's caller has")
    func parallelLoopAndMutex() async throws {
        try await withScheduler(Self.standingIn) { scheduler in
            let queue = scheduler.makeQueue("queue")
            let loop = scheduler.makeQueue("loop", .concurrent)
            let lock = SharedMutex(name: "table")
            let errors = Collected<String>()
            try await queue.quietly {
                let caller = cqos_own_id()
                try lock.mutex.withLock { _ in
                    try loop.apply(2) { _ in
                        // The caller comes to wait for its helper when that one waits already.
                        guard cqos_own_id() != caller else { return lock.waiters(1) }
                        do { try lock.mutex.withCheckedLock { $0 += 1 } } catch { errors.append("\(error)") }
                    }
                }
            }
            #expect(errors.all.count == 1)
            #expect(errors.all.first?.contains("a parallel loop of queue 'loop'") == true)
            #expect(lock.mutex.withLock { $0 } == 0)
        }
    }

    @Test("I5 over the end of a thread that waits for a queue")
    func join() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let ring = Ring(2)
            let inner = QoSThread(name: "inner") { ring.ask { try queue.sync {} } }
            try runAll([
                {
                    try? queue.sync {
                        try inner.start()
                        ring.ask { try inner.join() }
                    }
                }
            ])
            try await inner.value
            #expect(ring.errors.all.count == 1)
            #expect(ring.passed.value == 1)
        }
    }

    @Test("I5 nothing is reported where queues and locks are entered in one order", arguments: [1, 2, 3])
    func noFalseReports(seed: UInt64) async throws {
        try await withScheduler(Self.standingIn) { scheduler in
            let queues = (0..<6).map { scheduler.makeQueue("q\($0)", $0 % 3 == 2 ? .concurrent : .serial) }
            let mutex = SharedMutex(name: "innermost")
            let refused = Collected<String>()
            let ran = Tally()
            @Sendable func descend(_ path: ArraySlice<Int>) throws {
                guard let first = path.first else {
                    try mutex.mutex.withCheckedLock { $0 += 1 }
                    return
                }
                try queues[first].sync(flags: .barrier) { try descend(path.dropFirst()) }
            }
            try runAll(
                (0..<4).map { number in
                    {
                        var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(number))
                        for _ in 0..<100 {
                            let path = (0..<6).filter { _ in Bool.random(using: &generator) }
                            do { try descend(path[...]) } catch { refused.append("\(error)") }
                            queues[Int.random(in: 0..<6, using: &generator)].async { _ = ran.add() }
                        }
                    }
                })
            for queue in queues { try queue.sync(flags: .barrier) {} }
            #expect(refused.all == [], "seed \(seed)")
            #expect(mutex.mutex.withLock { $0 } == 400)
            #expect(ran.value == 400)
        }
    }

    @Test(
        "I5 in any order: whoever cannot get it is told, all others get on, and each closure runs alone",
        arguments: [1, 2, 3])
    func anyOrder(seed: UInt64) async throws {
        try await withScheduler(Self.standingIn) { scheduler in
            let queues = (0..<4).map { scheduler.makeQueue("q\($0)") }
            let outcomes = Tally()
            let inside = (0..<4).map { _ in Tally() }
            let overlaps = Tally()
            let leftOvers = Tally()
            try runAll(
                (0..<4).map { number in
                    {
                        var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(number))
                        for _ in 0..<300 {
                            let (a, b) = (
                                Int.random(in: 0..<4, using: &generator), Int.random(in: 0..<4, using: &generator)
                            )
                            try? queues[a].sync {
                                if inside[a].add() % 2 == 0 { overlaps.add() }
                                try? queues[b].sync {}
                                inside[a].add()
                            }
                            outcomes.add()
                        }
                        let own = cqos_own_id()
                        if LockRegistry.shared.entry(of: .thread(own))?.awaiting != nil { leftOvers.add() }
                    }
                })
            #expect(outcomes.value == 1200)
            #expect(overlaps.value == 0, "seed \(seed)")
            #expect(
                leftOvers.value == 0, "a thread that waits for nothing any more stands in the registry, seed \(seed)")
        }
    }
}
