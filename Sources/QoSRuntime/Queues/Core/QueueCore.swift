import QoSCore
import QoSKernel
import Synchronization

/// The inside of a work queue: its order, its active entries, and the entry that stands for it in its target.
///
/// A serial queue with items is one ``DrainEntry`` in a pool or in its target queue. A concurrent queue puts its active
/// items there themselves. `Docs/Inside/Protocols/work-queues.md` has the steps.
///
/// Locks: the holder of a queue's lock may take that of its target, never the other way round. Targets have no cycles.
///
/// Threading: any thread.
final class QueueCore: Sendable {
    /// The order among the items of a queue.
    enum Kind: Sendable, Equatable {
        case serial
        case concurrent
        /// The pool of a class. It has no order at all.
        case global(QoSClass)
    }

    let core: SchedulerCore
    let label: String

    /// The number of the label in the memory that the process shows.
    let labelNumber: UInt16

    let kind: Kind

    /// The level given when the queue was made (rule B1).
    let level: QoSLevel?

    let state: Lock<State>

    /// The queue's parallel loops.
    let parallelHelp = ParallelHelp()

    /// 1 + the rank of the targeted global queue; 0 for none.
    private let globalTarget = Atomic<UInt8>(0)

    /// Whether the queue runs on another queue of the user's.
    private let isChained = Atomic<Bool>(false)

    struct State {
        var order: WorkOrder

        /// The entries that have their turn.
        var active: [WorkEntry] = []

        /// The level to which the active entries were raised last.
        var raise = LevelCode.none

        /// The entry of a serial queue with work. It runs while `isDraining`.
        var drain: DrainEntry?
        var isDraining = false

        /// The queue that this one runs on; `nil` for the pools.
        var target: QueueCore?

        /// The active entries that a worker reached while the queue was suspended.
        var stalled: [WorkEntry] = []

        /// The waiting threads that could run entries of this queue.
        var helpers: [ThreadWait] = []

        /// The entry for the next synchronous submission that finds a serial queue idle. The entry and the queue refer
        /// to each other until the queue is released.
        var idleTurn: SyncEntry?

        /// Whether the queue's handle has gone.
        var isReleased = false
    }

    init(core: SchedulerCore, label: String, kind: Kind, level: QoSLevel?) {
        self.core = core
        self.label = label
        labelNumber = DiagnosticsMapping.number(of: label)
        self.kind = kind
        self.level = level
        state = Lock(State(order: WorkOrder(isSerial: kind == .serial)))
    }

    /// The global queue of a class.
    convenience init(global qosClass: QoSClass, of core: SchedulerCore) {
        self.init(core: core, label: "global \(qosClass)", kind: .global(qosClass), level: QoSLevel(qosClass))
    }

    var isGlobal: Bool {
        if case .global = kind { true } else { false }
    }

    /// The target, as far as it matters for levels (rule B5).
    var targetKind: WorkSubmission.Target {
        let code = globalTarget.load(ordering: .relaxed)
        return code == 0 ? .other : .global(QoSClass(atRank: Int(code) - 1))
    }

    var hasTarget: Bool { isChained.load(ordering: .relaxed) }

    /// Returns the entry that stands in the target queue for an active entry of this one.
    func carrier(of entry: WorkEntry) -> WorkEntry? {
        state.withLock { _ in entry.carrier }
    }

    /// The queue that this one runs on; `nil` for the pools.
    var target: QueueCore? { state.withLock { $0.target } }

    /// Makes targets change one at a time, so that no two changes close a cycle together.
    private static let changingTargets = Lock(())

    /// Sets the target (rule B3).
    ///
    /// - Throws: ``WorkQueueError`` for a cycle, a queue that has work, or a target of another scheduler.
    func setTarget(_ target: QueueCore) throws(WorkQueueError) {
        guard !isGlobal else { throw .globalQueue(label) }
        guard target.core === core else { throw .otherScheduler(label) }
        try Self.changingTargets.withLock { _ throws(WorkQueueError) in
            let cycle = TargetChain.cycle(from: Reference(self), to: Reference(target)) {
                $0.queue.target.map(Reference.init)
            }
            if let cycle { throw .targetCycle(cycle.map(\.queue.label)) }
            let isIdle = state.withLock { state in
                guard state.order.isEmpty, state.drain == nil else { return false }
                state.target = target.isGlobal ? nil : target
                return true
            }
            guard isIdle else { throw .queueHasWork(label) }
            isChained.store(!target.isGlobal, ordering: .relaxed)
            if case .global(let qosClass) = target.kind {
                globalTarget.store(UInt8(truncatingIfNeeded: 1 + qosClass.rank), ordering: .relaxed)
            } else {
                globalTarget.store(0, ordering: .relaxed)
            }
        }
    }

    private struct Reference: Equatable {
        let queue: QueueCore

        init(_ queue: QueueCore) {
            self.queue = queue
        }

        static func == (left: Reference, right: Reference) -> Bool { left.queue === right.queue }
    }

    // MARK: Adding

    /// Adds an entry, which must belong to this queue.
    func add(_ entry: WorkEntry) {
        if entry.onShutdown == .finish { entry.hold = core.beginHold(.entry(entry)) }
        var effects = QueueEffects()
        let isLookedFor = add(entry, &effects)
        effects.perform(on: core.group)
        if isLookedFor { wakeHelpers() }
    }

    /// - Returns: whether a helper has looked for the entry in vain.
    @discardableResult
    private func add(_ entry: WorkEntry, _ effects: inout QueueEffects) -> Bool {
        state.withLock { state in
            let level = entry.demand
            entry.publish(level)
            if isGlobal {
                entry.place = .active(0)
                entry.pooledOrder = level.poolOrder
                effects.submit(entry, rank: level.rank)
            } else {
                let number = state.order.added(token: entry.makeToken(), level: level, isBarrier: entry.isBarrier)
                entry.place = .held(number)
                advance(&state, &effects)
            }
            return entry.isLookedFor
        }
    }

    /// Gives the next entries their turn, and raises the active ones to the demands of the waiting ones.
    func advance(_ state: inout State, _ effects: inout QueueEffects) {
        if kind == .serial {
            if state.drain == nil, state.order.hasNext { submitDrain(&state, &effects) }
        } else {
            while let token = state.order.next() {
                let entry = WorkEntry.take(token: token)
                activate(entry, &state)
                submitActive(entry, &state, &effects)
            }
        }
        settle(&state, &effects)
    }

    func advance() {
        var effects = QueueEffects()
        state.withLock { advance(&$0, &effects) }
        effects.perform(on: core.group)
    }

    private func submitDrain(_ state: inout State, _ effects: inout QueueEffects) {
        let level = state.order.highestHeld
        let drain = DrainEntry(of: self, in: state.target ?? self, level: level)
        state.drain = drain
        if let target = state.target {
            target.add(drain, &effects)
        } else {
            drain.pooledOrder = level.poolOrder
            effects.submit(drain, rank: level.rank)
            effects.wake(state.helpers)
        }
    }

    /// Submits an active item of a concurrent queue to the target or the pool.
    func submitActive(_ entry: WorkEntry, _ state: inout State, _ effects: inout QueueEffects) {
        let level = entry.effective
        if let target = state.target {
            let carrier = CarrierEntry(entry, in: target, level: level)
            entry.carrier = carrier
            target.add(carrier, &effects)
        } else {
            // After a suspension the entry may still be in a pool, linked through its own words.
            effects.submit(entry.pooledOrder < 0 ? entry : RaisedEntry(entry), rank: level.rank)
            entry.pooledOrder = level.poolOrder
            effects.wake(state.helpers)
        }
    }

    func activate(_ entry: WorkEntry, _ state: inout State) {
        entry.place = .active(state.active.count)
        state.active.append(entry)
        entry.publish(max(entry.demand, state.order.raise))
        if state.isDraining, state.target != nil { entry.carrier = state.drain }
    }

    // MARK: Ending

    /// Removes an active entry that has ended.
    func end(_ entry: WorkEntry, _ state: inout State) {
        guard case .active(let index) = entry.place else { return }
        entry.place = .outside
        // The carrier and the entry refer to each other.
        entry.carrier = nil
        let last = state.active.removeLast()
        if last !== entry {
            state.active[index] = last
            last.place = .active(index)
        }
        state.order.ended()
    }

    /// Takes back an entry's turn, and gives it to the entries behind it.
    func finish(_ entry: WorkEntry) {
        var effects = QueueEffects()
        state.withLock { state in
            end(entry, &state)
            advance(&state, &effects)
        }
        effects.perform(on: core.group)
    }
}
