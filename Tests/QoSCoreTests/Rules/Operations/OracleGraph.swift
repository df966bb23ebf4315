import QoSCore

/// The rules of operations written down one after the other, with no thought of speed: looks at everything, again and
/// again, until nothing changes. What ``OperationGraph`` has to agree with.
struct OracleGraph {
    enum State { case created, waiting, evaluating, ready, running, finished }

    struct Operation {
        var state = State.created
        var level: QoSLevel?
        /// The relative priority that counts among those of its level.
        var order: RelativePriority
        var isResolved: Bool
        let origin: OperationOrigin
        let policy: FailedDependencyPolicy
        let isBarrier: Bool
        let hasConditions: Bool
        var conditionsAreMet = false
        var isDoomed = false
        var queue: Int?
        /// When it was added.
        var turn = 0
        var parents: [Int] = []
        /// The queue's promotion that it raised or came above; 0 for none.
        var promotion = 0
    }

    struct Queue {
        var assigned: QoSLevel?
        var promoted: QoSLevel?
        var promotion = 1
        let lifetime: QueuePromotionLifetime
        var limit: Int
        var suspensions: Int
        var isSuspended: Bool { suspensions > 0 }

        var level: QoSLevel? { promoted ?? assigned }
    }

    var operations: [Operation] = []
    var queues: [Queue] = []
    private var turns = 0

    /// The operations that the present event has raised; their dependencies follow (O5).
    private var risen: Set<Int> = []
    /// The operations that ended by themselves in the present event.
    private(set) var ended: Set<Int> = []

    mutating func begin() { (risen, ended) = ([], []) }

    // MARK: Rules Q, O1, O3–O5

    mutating func add(_ id: Int, to queue: Int) {
        turns += 1
        operations[id].turn = turns
        operations[id].queue = queue
        operations[id].state = .waiting
        let standing = queues[queue].level
        let brought = operations[id].level
        if !operations[id].isResolved {  // O1
            let inferred = operations[id].origin.operation ?? standing ?? operations[id].origin.fallback ?? .default
            operations[id].level = inferred.raised(to: brought)
            operations[id].order = max(operations[id].order, inferred.raised(to: brought).relativePriority)
            operations[id].isResolved = true
        }
        // Whoever came to this moment knows its level: what it depends on learns of it (O5).
        risen.insert(id)
        if let standing {
            raise(id, to: standing)  // O3
            if let own = operations[id].level, own > standing {  // Q2
                queues[queue].promoted = own
                for other in members(of: queue) { raise(other, to: own) }
            }
            if let brought, let assigned = queues[queue].assigned, brought > assigned {
                operations[id].promotion = queues[queue].promotion
            }
        }
        settle()
        if operations[id].isDoomed { end(id) }
    }

    mutating func setLevel(ofQueue queue: Int, to level: QoSLevel?) {
        let old = queues[queue].level
        endPromotion(of: queue)
        queues[queue].assigned = level
        guard let level, old == nil || level > old ?? level else { return }  // Q4
        for id in members(of: queue) { raise(id, to: level) }  // Q3
        settle()
    }

    mutating func setLevel(of id: Int, to level: QoSLevel) {
        guard operations[id].state != .finished else { return }
        operations[id].isResolved = true
        guard operations[id].level.map({ level > $0 }) ?? true else {
            (operations[id].level, operations[id].order) = (level, level.relativePriority)  // O7
            return
        }
        raise(id, to: level)  // O6
        operations[id].order = level.relativePriority
        for child in operations.indices where operations[child].parents.contains(id) { raise(child, to: level) }
        if let queue = operations[id].queue {
            for other in members(of: queue) where operations[other].turn < operations[id].turn {
                raise(other, to: level)
            }
        }
        settle()
    }

    /// Inferred again (O1), and taken as if it had been set (O6, O7).
    mutating func unsetLevel(of id: Int) {
        let (origin, queue) = (operations[id].origin, operations[id].queue)
        guard queue != nil || origin.operation != nil else {
            (operations[id].level, operations[id].order) = (nil, .lowest)
            operations[id].isResolved = false
            return
        }
        let standing = queue.flatMap { queues[$0].level }
        let inferred = origin.operation ?? standing ?? origin.fallback ?? .default
        setLevel(of: id, to: inferred.raised(to: standing))
    }

    mutating func depend(_ child: Int, on parent: Int) {
        operations[child].parents.append(parent)
        conditionsFail(child)
        guard operations[parent].state != .finished else { return }
        if let level = operations[child].level { raise(parent, to: level, order: operations[child].order) }
        settle()
    }

    /// A ready operation that is given something to wait for is not ready any more.
    private mutating func conditionsFail(_ child: Int) {
        if operations[child].state == .ready { operations[child].state = .waiting }
        operations[child].conditionsAreMet = false
    }

    /// O9; those of a queue keep their order.
    mutating func wait(for ids: [Int], at level: QoSLevel, inOrder: Bool) {
        for id in ids { raise(id, to: level, order: inOrder ? .lowest : level.relativePriority) }
        settle()
    }

    private mutating func raise(_ id: Int, to level: QoSLevel, order: RelativePriority = .lowest) {
        let old = operations[id]
        let order = max(old.order, order)
        let isHigher = old.level.map { level > $0 } ?? true
        guard old.state != .finished, isHigher || (level == old.level && order > old.order) else { return }
        (operations[id].level, operations[id].order) = (level, order)
        risen.insert(id)
    }

    /// O5: everything that something raised depends on follows, until nothing changes.
    private mutating func settle() {
        var changes = true
        while changes {
            changes = false
            for child in risen {
                guard let level = operations[child].level else { continue }
                for parent in operations[child].parents where operations[parent].state != .finished {
                    let before = (operations[parent].level, operations[parent].order)
                    raise(parent, to: level, order: operations[child].order)
                    if (operations[parent].level, operations[parent].order) != before { changes = true }
                }
            }
        }
    }

    // MARK: Ends

    mutating func finish(_ id: Int, _ outcome: OperationOutcome) {
        var failures: [Int] = outcome == .succeeded ? [] : [id]
        close(id)
        while let failed = failures.popLast() {  // O11
            for child in operations.indices
            where operations[child].parents.contains(failed) && operations[child].policy == .cancel {
                switch operations[child].state {
                case .created: operations[child].isDoomed = true
                case .finished: break
                default:
                    close(child)
                    ended.insert(child)
                    failures.append(child)
                }
            }
        }
    }

    mutating func end(_ id: Int) {
        ended.insert(id)
        finish(id, .dependencyFailed)
    }

    private mutating func close(_ id: Int) {
        operations[id].state = .finished
        guard let queue = operations[id].queue else { return }
        let promotion = queues[queue].promotion
        guard queues[queue].lifetime == .whilePresent, operations[id].promotion == promotion else { return }  // Q5
        if !members(of: queue).contains(where: { operations[$0].promotion == promotion }) { endPromotion(of: queue) }
    }

    private mutating func endPromotion(of queue: Int) {
        queues[queue].promoted = nil
        queues[queue].promotion += 1
    }

    // MARK: Starts

    func members(of queue: Int) -> [Int] {
        operations.indices.filter { operations[$0].queue == queue && operations[$0].state != .finished }
    }

    /// Starts what can start.
    ///
    /// - Returns: what was started, by queue, in order, and whose conditions are to be asked.
    mutating func start() -> (started: [[Int]], asked: Set<Int>) {
        var asked: Set<Int> = []
        for id in operations.indices where operations[id].state == .waiting {
            guard operations[id].parents.allSatisfy({ operations[$0].state == .finished }) else { continue }
            if operations[id].hasConditions, !operations[id].conditionsAreMet {
                operations[id].state = .evaluating
                asked.insert(id)
            } else {
                operations[id].state = .ready
            }
        }
        let started = queues.indices.map { queue in
            var started: [Int] = []
            while let next = next(in: queue) {
                operations[next].state = .running
                started.append(next)
            }
            return started
        }
        return (started, asked)
    }

    private func next(in queue: Int) -> Int? {
        let members = members(of: queue)
        let running = members.count { operations[$0].state == .running }
        guard !queues[queue].isSuspended, running < queues[queue].limit else { return nil }
        let eligible = members.filter { id in
            operations[id].state == .ready
                && members.allSatisfy { other in
                    // Also a barrier that was cancelled keeps apart what stands on its two sides.
                    let between = operations[other].turn...max(operations[id].turn, operations[other].turn)
                    return operations[other].turn >= operations[id].turn
                        || !operations.contains { $0.isBarrier && $0.queue == queue && between.contains($0.turn) }
                }
        }
        return eligible.max { first, second in
            let (one, other) = (operations[first].level ?? .default, operations[second].level ?? .default)
            guard one == other else { return one < other }
            let (early, late) = (operations[first], operations[second])
            return early.order == late.order ? early.turn > late.turn : early.order < late.order
        }
    }

    /// Whether an operation depends on another, over however many others.
    func depends(_ child: Int, on parent: Int) -> Bool {
        var (open, seen) = ([child], Set([child]))
        while let id = open.popLast() {
            if id == parent { return true }
            for next in operations[id].parents where operations[next].state != .finished && seen.insert(next).inserted {
                open.append(next)
            }
        }
        return false
    }
}
