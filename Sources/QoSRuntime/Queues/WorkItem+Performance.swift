import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

extension WorkItem {
    /// The execution of an item by the thread that calls ``perform()``, or in the turn of a synchronous submission.
    ///
    /// The item's waiters raise the entry in which it runs. Outside of an entry they raise the thread, like the holder
    /// of a ``QoSMutex`` (rules I1, I2): the item does not leave its thread.
    final class Performance: CurrentWork {
        /// The thread that runs the item.
        let thread = cqos_own_id()

        /// The entry that the thread ran before. A raise of that entry raises the item.
        let entry: WorkEntry?

        private let level: QoSLevel?
        private let demanded = Atomic<UInt8>(LevelCode.none.rawValue)

        /// Whether the thread has perhaps been raised.
        let hasRaised = Atomic<Bool>(false)

        init(level: QoSLevel?, within entry: WorkEntry?) {
            self.level = level
            self.entry = entry
        }

        var effectiveLevel: QoSLevel? {
            let demanded = LevelCode(rawValue: demanded.load(ordering: .relaxed))
            return QoSLevel.higher(QoSLevel.higher(level, entry?.effectiveLevel), demanded.level)
        }

        /// Notes the level that the waiters demand. Under the lock of the entry's queue, or else of the item's state.
        ///
        /// - Returns: the level that they demanded before.
        func demands(_ level: LevelCode) -> LevelCode {
            LevelCode(rawValue: demanded.exchange(level.rawValue, ordering: .relaxed))
        }

        /// The execution's name in the record of its thread.
        var resource: LockResource { .mutex(UInt(bitPattern: unsafe Unmanaged.passUnretained(self).toOpaque())) }
    }

    /// Brings an execution to the level that the item's waiters demand. Computed from the present waiters under the one
    /// lock of the entry or of the thread's demand: the last change leaves the right level.
    ///
    /// - Returns: the effects to perform.
    func demandChanged(of performance: Performance) -> LockEffects {
        var effects = LockEffects()
        if let entry = performance.entry {
            entry.queue.changeWaits(of: entry) { waits in
                let level = state.withLock(\.demandOfPerformance)
                let before = performance.demands(level)
                guard level != before else { return }
                if let place = waits.lastIndex(of: before) { waits.remove(at: place) }
                if level != .none { waits.append(level) }
            }
            return effects
        }
        state.withLock { state in
            let level = state.demandOfPerformance
            guard performance.demands(level) != level else { return }
            let (registry, thread) = (LockRegistry.shared, LockParticipant.thread(performance.thread))
            if level == .none {
                registry.demandNothing(of: thread, for: performance.resource, &effects)
            } else {
                performance.hasRaised.store(true, ordering: .relaxed)
                registry.demand(level, of: thread, for: performance.resource, &effects)
            }
        }
        LockRegistry.shared.follow(&effects)
        return effects
    }

    /// Takes the demands of the waiters from an execution that has ended. On its thread.
    func ended(_ performance: Performance) {
        demandChanged(of: performance).perform()
        if performance.hasRaised.load(ordering: .relaxed) {
            LockRegistry.shared.settleCallingThread(performance.thread)
        }
    }
}

extension WorkItem: ThreadWaitTarget {
    /// The thread that runs the item outside of its queue's turn, or the threads before its turn.
    var blockers: [UInt32] {
        let runners = state.withLock(\.runners)
        return runners.performance.map { [$0.thread] } ?? runners.entry?.blockers ?? []
    }

    var awaitedName: String { state.withLock(\.entry)?.awaitedName ?? "a work item" }

    func raised(to level: LevelCode) {
        // A raise that is not possible was reported when the wait began.
        waitBegan(at: level).perform()
    }

    func lowered(from level: LevelCode) {
        waitEnded(at: level)
    }

    /// Notes a waiter, and raises the work that the end of the item depends on.
    ///
    /// - Returns: the effects to perform.
    func waitBegan(at level: LevelCode) -> LockEffects {
        let runners = state.withLock { $0.waitBegan(at: level) }
        if let entry = runners.entry { entry.queue.waitBegan(for: entry, at: level) }
        return runners.performance.map { demandChanged(of: $0) } ?? LockEffects()
    }

    /// Takes one ``waitBegan(at:)`` back.
    func waitEnded(at level: LevelCode) {
        let runners = state.withLock { $0.waitEnded(at: level) }
        if let entry = runners.entry { entry.queue.waitEnded(for: entry, at: level) }
        if let performance = runners.performance { demandChanged(of: performance).perform() }
    }
}
