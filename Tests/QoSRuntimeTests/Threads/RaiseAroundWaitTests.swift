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
        private final class Target: ThreadWaitTarget {
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

        /// A target whose raise takes until it is let go.
        private final class SlowTarget: ThreadWaitTarget {
            let changes = Collected<String>()
            let begun = Gate()
            let goOn = Gate()

            var blockers: [UInt32] { [] }
            var awaitedName: String { "slow target" }
            func raised(to level: LevelCode) {
                begun.open()
                goOn.blockThread()
                changes.append("raised to \(level.rank)")
            }
            func lowered(from level: LevelCode) { changes.append("lowered from \(level.rank)") }
        }

        @Test("I1 a raise within which the wait ends is taken back afterwards; one that comes later is left")
        func waitEndsWithinRaise() throws {
            let (target, wait, ids) = (SlowTarget(), ThreadWait(), Collected<UInt32>())
            let sleeper = QoSThread(name: "sleeper", level: .utility) {
                ids.append(cqos_own_id())
                try LockRegistry.shared.sleep(wait, awaiting: target, at: .utility) { _ in }
            }
            try sleeper.start()
            func entry() -> LockRegistry.Entry? { LockRegistry.shared.entry(of: .thread(ids.all[0])) }
            while ids.all.isEmpty || entry()?.awaiting == nil { cqosPause() }
            let id = ids.all[0]
            let awaiting = try #require(entry()?.awaiting)
            let raiser = try RunningThread(name: "raiser") {
                LockRegistry.shared.raised(thread: id, to: .userInteractive)
            }
            target.begun.blockThread()
            wait.parker.unpark()
            try sleeper.join()
            target.goOn.open()
            try raiser.join()
            let level = LevelCode(.userInteractive)
            let changes = ["raised to \(level.rank)", "lowered from \(level.rank)"]
            #expect(target.changes.all == changes)
            let late = LockRaise(party: .thread(id), means: .awaited(nil, awaiting, level))
            #expect(late.perform() == nil)
            #expect(target.changes.all == changes)
        }

        /// Work whose level rises after it was read for the first time.
        private final class Rising: CurrentWork {
            private let reads = Tally()

            var effectiveLevel: QoSLevel? { reads.add() == 1 ? .utility : .userInteractive }
        }

        @Test("I1 a raise of the item that the thread runs, from before the wait was known, is passed on")
        func itemRaisedBeforeTheWait() throws {
            let (target, work, wait) = (Target(), Rising(), ThreadWait())
            wait.parker.unpark()
            try WorkScope.with(work) {
                let level = QoS.waitingLevel
                try LockRegistry.shared.sleep(wait, awaiting: target, at: level) { _ in }
            }
            let rank = QoSClass.userInteractive.rank
            #expect(target.changes.all == ["raised to \(rank)", "lowered from \(rank)"])
        }

        @Test(
            "I1 I2 a raise of the item that the thread runs, while the thread enters a mutex's line, raises the holder")
        func itemRaisedBeforeTheLock() throws {
            try LockKernelStage.with(.all) { stage in
                let (lock, isHeld, goOn) = (SharedMutex(), Gate(), Gate())
                let ids = Collected<UInt32>()
                let holder = QoSThread(name: "holder", level: .background) {
                    lock.mutex.withLock { _ in
                        ids.append(cqos_own_id())
                        isHeld.open()
                        goOn.blockThread()
                    }
                }
                try holder.start()
                isHeld.blockThread()
                let waiter = QoSThread(name: "waiter", level: .utility) {
                    WorkScope.with(Rising()) { lock.mutex.withLock { _ in } }
                }
                try waiter.start()
                while try stage.nice(of: ids.all[0]) != LockKernelStage.nice(.userInteractive) { cqosPause() }
                goOn.open()
                try holder.join()
                try waiter.join()
            }
        }

        @Test("I1 I3 a raise of a sleeping thread's item lasts when the thread wakes in vain and sleeps again")
        func wokenInVain() async throws {
            try await withScheduler { scheduler in
                let (outer, inner) = (scheduler.makeQueue("outer"), scheduler.makeQueue("inner"))
                let (begun, goOn, ids) = (Gate(), Gate(), Collected<UInt32>())
                let running = WorkItem(level: .background) {
                    begun.open()
                    goOn.blockThread()
                }
                try inner.async(running)
                await begun.passed()
                let waiter = QoSThread(name: "waiter", level: .utility) {
                    ids.append(cqos_own_id())
                    try outer.sync { try inner.sync {} }
                }
                try waiter.start()
                func entry() -> LockRegistry.Entry? { LockRegistry.shared.entry(of: .thread(ids.all[0])) }
                while ids.all.isEmpty || entry()?.awaiting == nil { await Task.yield() }
                outer.async(level: .userInteractive) {}
                while running.effectiveLevel != .userInteractive { await Task.yield() }
                let (wait, first) = (entry()?.awaiting?.wait, entry()?.record.wait?.id)
                wait?.parker.unpark()
                while true {
                    let present = entry()?.record.wait?.id
                    if present != nil, present != first { break }
                    await Task.yield()
                }
                while running.effectiveLevel != .userInteractive { await Task.yield() }
                goOn.open()
                try await waiter.value
                try await outer.run {}
            }
        }

        @Test("I2 T4 a thread that opts out while a waiter of no higher level needs it is raised from then on")
        func optsOutWhileAwaited() throws {
            try LockKernelStage.with(.all) { stage in
                let nice = Collected<Int>()
                let thread = QoSThread(name: "opts out", level: .userInteractive) {
                    let (party, resource) = (LockParticipant.thread(cqos_own_id()), LockResource.mutex(16))
                    var effects = LockEffects()
                    LockRegistry.shared.demand(LevelCode(.userInitiated), of: party, for: resource, &effects)
                    // The thread's own level is higher.
                    effects.perform()
                    nice.append(try stage.ownNice)
                    try QoSThread.setCurrentNice(15)
                    nice.append(try stage.ownNice)
                    var end = LockEffects()
                    LockRegistry.shared.demandNothing(of: party, for: resource, &end)
                    LockRegistry.shared.settleCallingThread(cqos_own_id())
                    nice.append(try stage.ownNice)
                }
                try thread.start()
                try thread.join()
                let (before, raised) = (LockKernelStage.nice(.userInteractive), LockKernelStage.nice(.userInitiated))
                #expect(nice.all == [before, raised, 15])
                #expect(LockRegistry.shared.raises.isEmpty)
            }
        }

        @Test("I1 I2 a thread that runs a task and wakes takes back what its wait has raised, each raise once")
        func wakesWithinTask() async throws {
            LockKernel.replace(with: KernelProfile(calls: SimulatedSchedulingCalls(rights: .all)))
            defer { LockKernel.replace(with: nil) }
            let target = Target()
            try await Task.detached(priority: .utility) { try Self.sleepsAwaited(for: target) }.value
            func count(_ change: String, _ qosClass: QoSClass) -> Int {
                target.changes.all.count { $0 == "\(change) \(qosClass.rank)" }
            }
            for qosClass in QoSClass.allCases {
                #expect(count("raised to", qosClass) == count("lowered from", qosClass))
                // The task may have been raised by this one, which waits for it.
                #expect(count("raised to", qosClass) <= 1)
            }
            #expect(count("raised to", .userInteractive) == 1)
        }

        /// Sleeps for a target, while others wait for a lock of the calling thread, and higher ones for one of the
        /// calling task. The second demand ends with the execution by the sleeping thread.
        private static func sleepsAwaited(for target: Target) throws {
            let (registry, id) = (LockRegistry.shared, cqos_own_id())
            let task = try #require(ConcurrencyRuntime.currentTask)
            let demands: [(LockParticipant, LockResource, LevelCode)] = [
                (.thread(id), .mutex(16), LevelCode(.utility)), (.task(task), .mutex(32), LevelCode(.userInteractive)),
            ]
            var effects = LockEffects()
            for (party, resource, level) in demands { registry.demand(level, of: party, for: resource, &effects) }
            // A task that was raised would itself wait at the higher level.
            for raise in effects.raises { raise.discard() }
            let wait = ThreadWait()
            wait.parker.unpark()
            try registry.sleep(wait, awaiting: target, at: .background) { _ in }
            for (party, resource, _) in demands { registry.demandNothing(of: party, for: resource, &effects) }
            registry.settleCallingThread(id)
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
