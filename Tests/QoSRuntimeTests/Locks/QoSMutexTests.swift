import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import QoSTesting
import Synchronization
import Testing

@testable import QoSRuntime

/// A mutex that many threads of a test can hold on to.
final class SharedMutex: Sendable {
    let mutex: QoSMutex<Int>

    init(name: String? = nil) {
        mutex = QoSMutex(0, name: name)
    }

    /// Waits until so many threads wait for it.
    func waiters(_ count: Int) {
        while waiterCount < count { cqosPause() }
    }

    /// The number of waiting threads.
    var waiterCount: Int {
        let resource = LockResource.mutex(unsafe UInt(bitPattern: mutex.word))
        return LockRegistry.shared.withSite(of: resource) { $0?.line.count ?? 0 }
    }
}

/// Lets other threads run.
func cqosPause() {
    let parker = Parker()
    _ = parker.park(untilNanoseconds: MonotonicClock.nanoseconds() + 50_000)
}

extension ThreadsAndLocks {
    @Suite("A mutex that raises its holder")
    struct QoSMutexTests {
        /// Starts a thread that holds a mutex while a body runs.
        private func holder(
            _ lock: SharedMutex, name: String, level: QoSLevel?, _ body: @escaping @Sendable () throws -> Void
        ) throws -> QoSThread<Void> {
            let isHeld = Gate()
            let thread = QoSThread(name: name, level: level) {
                try lock.mutex.withLock { _ in
                    isHeld.open()
                    try body()
                }
            }
            try thread.start()
            isHeld.blockThread()
            return thread
        }

        @Test("I2 the holder gets the waiter's class while it holds the mutex, and its own again on unlocking")
        func raisesHolder() throws {
            try LockKernelStage.with(.all) { stage in
                let lock = SharedMutex()
                let nice = Collected<Int>()
                let goOn = Gate()
                let low = QoSThread(name: "low", level: .utility) {
                    try lock.mutex.withLock { _ in
                        nice.append(try stage.ownNice)
                        goOn.blockThread()
                        nice.append(try stage.ownNice)
                    }
                    nice.append(try stage.ownNice)
                }
                try low.start()
                while nice.all.isEmpty { cqosPause() }
                let high = QoSThread(name: "high", level: .userInitiated) { lock.mutex.withLock { $0 += 1 } }
                try high.start()
                lock.waiters(1)
                // Who waits is entered first and raises then.
                while LockRegistry.shared.raises.allSatisfy({ $0.raisedClass != .userInitiated }) { cqosPause() }
                goOn.open()
                try low.join()
                try high.join()
                #expect(
                    nice.all == [
                        LockKernelStage.nice(.utility), LockKernelStage.nice(.userInitiated),
                        LockKernelStage.nice(.utility),
                    ])
                #expect(lock.mutex.withLock { $0 } == 1)
            }
        }

        @Test("I2 B6 the holder submits with the waiter's level while it holds the mutex, and with its own afterwards")
        func level() throws {
            try LockKernelStage.with(.all) { _ in
                let lock = SharedMutex()
                let (isHeld, goOn) = (Gate(), Gate())
                let levels = Collected<QoSLevel?>()
                let low = QoSThread(name: "low", level: .utility) {
                    lock.mutex.withLock { _ in
                        levels.append(QoS.currentLevel)
                        isHeld.open()
                        goOn.blockThread()
                        levels.append(QoS.currentLevel)
                    }
                    levels.append(QoS.currentLevel)
                }
                try low.start()
                isHeld.blockThread()
                let high = QoSThread(name: "high", level: .userInitiated) { lock.mutex.withLock { _ in } }
                try high.start()
                lock.waiters(1)
                goOn.open()
                try low.join()
                try high.join()
                #expect(levels.all == [.utility, .userInitiated, .utility])
            }
        }

        @Test("I2 the raise is transitive over three mutexes")
        func transitive() throws {
            try LockKernelStage.with(.all) { stage in
                let (a, b, c) = (SharedMutex(), SharedMutex(), SharedMutex())
                let goOn = Gate()
                let nice = Collected<Int>()
                let first = try holder(a, name: "first", level: .background) {
                    goOn.blockThread()
                    nice.append(try stage.ownNice)
                }
                let second = try holder(b, name: "second", level: .utility) {
                    a.mutex.withLock { _ in nice.append((try? stage.ownNice) ?? 99) }
                }
                a.waiters(1)
                let third = try holder(c, name: "third", level: .default) { b.mutex.withLock { _ in } }
                b.waiters(1)
                let high = QoSThread(name: "high", level: .userInteractive) { c.mutex.withLock { _ in } }
                try high.start()
                c.waiters(1)
                while LockRegistry.shared.raises.count(where: { $0.raisedClass == .userInteractive }) < 3 {
                    cqosPause()
                }
                goOn.open()
                for thread in [first, second, third, high] { try thread.join() }
                #expect(nice.all == [.userInteractive, .userInteractive].map(LockKernelStage.nice))
                #expect(LockRegistry.shared.raises.isEmpty)
            }
        }

        @Test("I2 a mutex goes to the highest waiter, and to the first among equals")
        func order() throws {
            let lock = SharedMutex()
            let goOn = Gate()
            let order = Collected<String>()
            let low = try holder(lock, name: "holder", level: .background) { goOn.blockThread() }
            let levels: [(String, QoSLevel)] = [
                ("utility 1", .utility), ("initiated 1", .userInitiated), ("utility 2", .utility),
                ("initiated 2", .userInitiated), ("default", .default),
            ]
            var threads = [low]
            for (count, (name, level)) in levels.enumerated() {
                let thread = QoSThread(name: name, level: level) { lock.mutex.withLock { _ in order.append(name) } }
                try thread.start()
                lock.waiters(count + 1)
                threads.append(thread)
            }
            goOn.open()
            for thread in threads { try thread.join() }
            #expect(order.all == ["initiated 1", "initiated 2", "default", "utility 1", "utility 2"])
        }

        @Test("I2 a level that the holder takes itself while it is raised is what it has afterwards")
        func setCurrentWhileRaised() throws {
            try LockKernelStage.with(.all) { stage in
                let lock = SharedMutex()
                let nice = Collected<Int>()
                let (isHeld, goOn) = (Gate(), Gate())
                let low = QoSThread(name: "low", level: .background) {
                    try lock.mutex.withLock { _ in
                        isHeld.open()
                        goOn.blockThread()
                        try QoSThread.setCurrentLevel(.utility)
                        nice.append(try stage.ownNice)
                    }
                    nice.append(try stage.ownNice)
                }
                try low.start()
                isHeld.blockThread()
                let high = QoSThread(name: "high", level: .userInitiated) { lock.mutex.withLock { _ in } }
                try high.start()
                lock.waiters(1)
                goOn.open()
                try low.join()
                try high.join()
                #expect(nice.all == [LockKernelStage.nice(.userInitiated), LockKernelStage.nice(.utility)])
            }
        }

        @Test("I2 a policy that the holder takes just when it is raised for the first time is what it has afterwards")
        func setCurrentBesideFirstRaise() throws {
            let simulated = SimulatedSchedulingCalls(rights: .all)
            let changing = Lock<ThreadID?>(nil)
            let (lock, isChanging) = (SharedMutex(), Gate())
            // Lets the waiter raise the thread within the thread's own change. It cannot: then the tries end.
            let calls = FaultInjectingSchedulingCalls(over: simulated) { call in
                let isOwn = changing.withLock { thread in
                    defer { if call == .getNice, thread == .current { thread = nil } }
                    return call == .getNice && thread == .current
                }
                guard isOwn else { return }
                isChanging.open()
                lock.waiters(1)
                for _ in 0..<1000 where LockRegistry.shared.raises.allSatisfy({ $0.targetClass == nil }) {
                    cqosPause()
                }
                let raised = LockKernelStage.nice(.userInitiated)
                for _ in 0..<400 where (try? simulated.nice(of: .current)) != raised { cqosPause() }
            }
            LockKernel.replace(with: KernelProfile(calls: calls))
            defer { LockKernel.replace(with: nil) }
            let (nice, goOn) = (Collected<Int>(), Gate())
            let policies = Collected<SchedulingPolicy>()
            let low = QoSThread(name: "low", level: .utility) {
                try lock.mutex.withLock { _ in
                    changing.withLock { $0 = .current }
                    try QoSThread.setCurrentPolicy(.batch)
                    goOn.blockThread()
                    nice.append(try simulated.nice(of: .current))
                }
                nice.append(try simulated.nice(of: .current))
                policies.append(try simulated.scheduling(of: .current).policy)
            }
            try low.start()
            isChanging.blockThread()
            let high = QoSThread(name: "high", level: .userInitiated) { lock.mutex.withLock { _ in } }
            try high.start()
            lock.waiters(1)
            while LockRegistry.shared.raises.allSatisfy({ $0.raisedClass != .userInitiated }) { cqosPause() }
            goOn.open()
            try low.join()
            try high.join()
            #expect(nice.all == [LockKernelStage.nice(.userInitiated), LockKernelStage.nice(.utility)])
            #expect(policies.all == [.batch])
        }

        @Test("I2 errors and results come out; a mutex that is held is not available")
        func shape() throws {
            struct Broken: Error {}
            let lock = SharedMutex()
            #expect(throws: Broken.self) { try lock.mutex.withLock { _ throws(Broken) -> Void in throw Broken() } }
            #expect(
                lock.mutex.withLock { value in
                    value += 1
                    return value
                } == 1)
            lock.mutex.withLock { _ in #expect(lock.mutex.withLockIfAvailable { $0 } == nil) }
            #expect(lock.mutex.withLockIfAvailable { $0 } == 1)
        }

        @Test("I5 a thread that asks for a mutex it holds gets an error, and the mutex works on")
        func reentrant() throws {
            let lock = SharedMutex(name: "once")
            let thread = QoSThread(name: "twice") {
                try lock.mutex.withCheckedLock { _ in
                    #expect {
                        try lock.mutex.withCheckedLock { _ in _ = Issue.record("locked twice") }
                    } throws: { error in
                        guard case LockError.reentrant(let name, let holder)? = error as? LockError else {
                            return false
                        }
                        return name == "mutex 'once'" && holder.contains("twice")
                    }
                }
            }
            try thread.start()
            try thread.join()
            #expect(lock.mutex.withLock { $0 } == 0)
        }

        @Test(
            "I5 of two threads that would wait for one another, one gets an error that names both; it is reported too")
        func deadlock() throws {
            let (a, b) = (SharedMutex(name: "A"), SharedMutex(name: "B"))
            let reports = Collected<InversionReport>()
            let token = InversionDetection.listen { if $0.kind == .deadlock { reports.append($0) } }
            defer { InversionDetection.stop(token) }
            let goOn = Gate()
            let errors = Collected<String>()
            let first = try holder(a, name: "first", level: .utility) {
                goOn.blockThread()
                b.mutex.withLock { $0 += 1 }
            }
            let second = try holder(b, name: "second", level: .utility) {
                goOn.open()
                b.waiters(1)
                do { try a.mutex.withCheckedLock { _ in _ = Issue.record("no deadlock?") } } catch {
                    errors.append("\(error)")
                }
            }
            try first.join()
            try second.join()
            #expect(errors.all.count == 1)
            #expect(errors.all.first?.contains("'first'") == true && errors.all.first?.contains("'second'") == true)
            let report = try #require(reports.all.first { $0.resource == "mutex 'A'" })
            #expect(report.waiter.name.contains("'second'"))
            #expect(report.holder.name.contains("'first'"))
            #expect(b.mutex.withLock { $0 } == 1)
        }

        @Test("I5 a thread that sleeps for a checked lock gets an error when one that cannot throw closes the circle")
        func deadlockClosedLater() throws {
            let (a, b) = (SharedMutex(name: "A"), SharedMutex(name: "B"))
            let goOn = Gate()
            let errors = Collected<String>()
            let first = try holder(a, name: "first", level: .utility) {
                goOn.blockThread()
                do { try b.mutex.withCheckedLock { _ in _ = Issue.record("no deadlock?") } } catch {
                    errors.append("\(error)")
                }
            }
            let second = try holder(b, name: "second", level: .utility) {
                goOn.open()
                b.waiters(1)
                a.mutex.withLock { $0 += 1 }
            }
            try first.join()
            try second.join()
            #expect(errors.all.count == 1)
            #expect(errors.all.first?.contains("'first'") == true && errors.all.first?.contains("'second'") == true)
            #expect(a.mutex.withLock { $0 } == 1)
            #expect(b.mutex.withLockIfAvailable { $0 } == 0)
        }

        @Test("I5 an inversion that the kernel allows nothing for is reported with both sides")
        func unresolved() throws {
            try LockKernelStage.with(.none) { _ in
                let lock = SharedMutex(name: "unresolved")
                let reports = Collected<InversionReport>()
                let token = InversionDetection.listen { if $0.resource == "mutex 'unresolved'" { reports.append($0) } }
                defer { InversionDetection.stop(token) }
                let goOn = Gate()
                let low = try holder(lock, name: "low", level: .background) { goOn.blockThread() }
                let before = ContinuousClock.now
                let high = QoSThread(name: "high", level: .userInitiated) { lock.mutex.withLock { _ in } }
                try high.start()
                while reports.all.isEmpty { cqosPause() }
                goOn.open()
                try low.join()
                try high.join()
                let report = try #require(reports.all.first)
                #expect(report.kind == .unresolvedInversion)
                #expect(report.waiter.name.contains("'high'") && report.waiter.level == .userInitiated)
                #expect(report.holder.name.contains("'low'") && report.holder.level == .background)
                #expect(report.since >= before && report.since <= .now)
            }
        }

        @Test("I5 nothing is reported to who does not listen any more")
        func sink() {
            let reports = Collected<InversionReport>()
            let token = InversionDetection.listen { reports.append($0) }
            InversionDetection.stop(token)
            InversionDetection.stop(token)
            let name = "sink \(UInt64.random(in: 0 ... .max))"
            let waiter = LockWaiter(party: .thread(1), name: "nobody", level: nil, lockName: name)
            waiter.report(.deadlock, holder: .thread(2), "")
            #expect(!reports.all.contains { $0.resource == name })
        }

        @Test(
            "I2 many threads over many mutexes exclude one another and leave nothing behind", .tags(.stress),
            arguments: 0..<12)
        func stress(seed: UInt64) throws {
            let locks = (0..<4).map { _ in SharedMutex() }
            let inside = (0..<4).map { _ in Atomic32() }
            var generator = SeededGenerator(seed: seed)
            let threads = (0..<6).map { number in
                let qosClass = QoSClass(rank: Int.random(in: 0...4, using: &generator)) ?? .default
                let own = SeededGenerator(seed: seed &* 31 &+ UInt64(number))
                return QoSThread(name: "stress", level: QoSLevel(qosClass)) {
                    var generator = own
                    for _ in 0..<300 {
                        let outer = Int.random(in: 0..<4, using: &generator)
                        let inner = Int.random(in: 0..<4, using: &generator)
                        locks[outer].mutex.withLock { value in
                            #expect(inside[outer].enter() == 1, "seed \(seed)")
                            value += 1
                            // In one order, or two threads would wait for one another.
                            if inner > outer { locks[inner].mutex.withLock { $0 += 1 } }
                            inside[outer].leave()
                        }
                    }
                }
            }
            for thread in threads { try thread.start() }
            for thread in threads { try thread.join() }
            let total = locks.reduce(0) { $0 + $1.mutex.withLock { $0 } }
            var expected = 0
            for number in 0..<6 {
                var generator = SeededGenerator(seed: seed &* 31 &+ UInt64(number))
                for _ in 0..<300 {
                    let outer = Int.random(in: 0..<4, using: &generator)
                    expected += Int.random(in: 0..<4, using: &generator) > outer ? 2 : 1
                }
            }
            #expect(total == expected, "seed \(seed)")
        }

        @Test(
            "I5 threads that lock in any order end, each with its locks or with an error", .tags(.stress),
            arguments: 0..<8)
        func deadlocks(seed: UInt64) throws {
            let locks = (0..<3).map { _ in SharedMutex() }
            let (done, refused) = (Tally(), Tally())
            let threads = (0..<4).map { number in
                let own = SeededGenerator(seed: seed &* 97 &+ UInt64(number))
                return QoSThread(name: "any order", level: .utility) {
                    var generator = own
                    for _ in 0..<200 {
                        let order = [0, 1, 2].shuffled(using: &generator)
                        do {
                            try locks[order[0]].mutex.withCheckedLock { _ in
                                try locks[order[1]].mutex.withCheckedLock { _ in
                                    try locks[order[2]].mutex.withCheckedLock { _ in _ = done.add() }
                                }
                            }
                        } catch is LockError {
                            refused.add()
                        } catch {
                            Issue.record("seed \(seed): \(error)")
                        }
                    }
                }
            }
            for thread in threads { try thread.start() }
            for thread in threads { try thread.join() }
            #expect(done.value + refused.value == 800, "seed \(seed)")
            for lock in locks { #expect(lock.mutex.withLockIfAvailable { $0 } != nil) }
        }
    }
}

/// Counts the threads inside.
final class Atomic32: Sendable {
    private let count = Atomic<Int32>(0)

    func enter() -> Int32 { count.add(1, ordering: .relaxed).newValue }

    func leave() { count.subtract(1, ordering: .relaxed) }
}
