import QoSCore
import QoSTesting
import Testing

/// A graph and the oracle: the same random events happen to both, and their states agree after each event.
struct GraphPair {
    enum Event: CaseIterable {
        case create, add, depend, undepend, dependOnLost, setLevel, unsetLevel, setQueueLevel, wait, waitForQueue,
            finish, cancel
        case conditions, suspend, resume, limit, forget
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private var graph = OperationGraph()
    private var oracle = OracleGraph()
    private var effects = OperationEffects()
    private let queues: [OperationQueueID]
    /// The graph's names of the oracle's operations; `nil` once forgotten.
    private var ids: [OperationID?] = []
    private var last = "nothing"

    private(set) var reached: [Event: Int] = [:]
    private(set) var raised = 0
    private(set) var cycles = 0
    private(set) var ended = 0
    private(set) var deadlocks = 0

    init(seed: UInt64, queues count: Int) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        var queues: [OperationQueueID] = []
        for _ in 0..<count {
            let level = Self.level(&random, orNone: true)
            let limit = Int.random(in: 1...4, using: &random)
            let lifetime = QueuePromotionLifetime.allCases.randomElement(using: &random) ?? .untilSet
            let isSuspended = Bool.random(using: &random)
            oracle.queues.append(
                .init(assigned: level, lifetime: lifetime, limit: limit, suspensions: isSuspended ? 1 : 0))
            queues.append(graph.queueCreated(level: level, limit: limit, lifetime: lifetime, isSuspended: isSuspended))
        }
        self.queues = queues
    }

    private static func level(_ random: inout SeededGenerator, orNone: Bool) -> QoSLevel? {
        if orNone, Int.random(in: 0..<3, using: &random) == 0 { return nil }
        let qosClass = QoSClass.allCases.randomElement(using: &random) ?? .default
        return QoSLevel(qosClass, relativePriority: RelativePriority(clamping: Int.random(in: -2...0, using: &random)))
    }

    private mutating func level() -> QoSLevel { Self.level(&random, orNone: false) ?? .default }

    private mutating func one(_ states: OracleGraph.State...) -> (Int, OperationID)? {
        let all = oracle.operations.indices.filter { states.contains(oracle.operations[$0].state) && ids[$0] != nil }
        guard let index = all.randomElement(using: &random), let id = ids[index] else { return nil }
        return (index, id)
    }

    // MARK: Events

    mutating func step() throws {
        let weighted: [Event] =
            [
                .create, .create, .create, .add, .add, .add, .depend, .depend, .depend, .depend, .finish, .finish,
                .finish,
            ]
            + Event.allCases
        guard let event = weighted.randomElement(using: &random) else { return }
        effects.removeAll()
        oracle.begin()
        let before = oracle.operations.map(\.level)
        last = "\(event)"
        guard try perform(event) else { return }
        reached[event, default: 0] += 1
        let (started, asked) = oracle.start()
        try compare(started: started, asked: asked, before: before, lowered: event == .setLevel || event == .unsetLevel)
        raised += effects.raised.count
        ended += effects.finished.count
    }

    private mutating func perform(_ event: Event) throws -> Bool {
        switch event {
        case .create: create()
        case .add: return try add()
        case .depend: return try depend()
        case .undepend: return try undepend()
        case .dependOnLost: return try dependOnLost()
        case .setLevel:
            guard let (index, id) = one(.created, .waiting, .evaluating, .ready, .running) else { return false }
            let level = level()
            oracle.setLevel(of: index, to: level)
            graph.levelSet(of: id, to: level, &effects)
        case .unsetLevel:
            guard let (index, id) = one(.created, .waiting, .evaluating, .ready, .running) else { return false }
            oracle.unsetLevel(of: index)
            graph.levelUnset(of: id, &effects)
        case .setQueueLevel:
            let (index, level) = (Int.random(in: queues.indices, using: &random), Self.level(&random, orNone: true))
            oracle.setLevel(ofQueue: index, to: level)
            graph.levelSet(of: queues[index], to: level, &effects)
        case .wait:
            guard let (index, id) = one(.created, .waiting, .evaluating, .ready, .running) else { return false }
            let level = level()
            oracle.wait(for: [index], at: level, inOrder: false)
            graph.operationWaitedFor(id, at: level, &effects)
        case .waitForQueue:
            let (index, level) = (Int.random(in: queues.indices, using: &random), level())
            oracle.wait(for: oracle.members(of: index), at: level, inOrder: true)
            graph.queueWaitedFor(queues[index], at: level, &effects)
        case .finish:
            guard let (index, id) = one(.running) else { return false }
            let outcome = [OperationOutcome.succeeded, .succeeded, .failed, .cancelled].randomElement(using: &random)
            finish(index, id, outcome ?? .succeeded)
        case .cancel:
            guard let (index, id) = one(.waiting, .evaluating, .ready) else { return false }
            finish(index, id, .cancelled)
        case .conditions:
            guard let (index, id) = one(.evaluating) else { return false }
            oracle.operations[index].conditionsAreMet = true
            oracle.operations[index].state = .waiting
            graph.conditionsMet(id, &effects)
        case .suspend:
            let index = Int.random(in: queues.indices, using: &random)
            oracle.queues[index].suspensions += 1
            graph.queueSuspended(queues[index])
        case .resume: return try resume()
        case .limit:
            let (index, limit) = (Int.random(in: queues.indices, using: &random), Int.random(in: 1...4, using: &random))
            oracle.queues[index].limit = limit
            graph.limitSet(of: queues[index], to: limit, &effects)
        case .forget:
            guard let (index, id) = one(.created, .finished) else { return false }
            if oracle.operations[index].state == .created { oracle.finish(index, .cancelled) }
            graph.forget(id, &effects)
            ids[index] = nil
        }
        return true
    }

    private mutating func create() {
        let assigned = Self.level(&random, orNone: true)
        let origin = OperationOrigin(
            operation: Int.random(in: 0..<4, using: &random) == 0 ? level() : nil,
            activity: Self.level(&random, orNone: true), creator: Self.level(&random, orNone: true),
            isInteractiveMain: false)
        let policy = FailedDependencyPolicy.allCases.randomElement(using: &random) ?? .cancel
        let isBarrier = Int.random(in: 0..<8, using: &random) == 0
        let hasConditions = Int.random(in: 0..<6, using: &random) == 0
        let known = assigned ?? origin.operation
        oracle.operations.append(
            .init(
                level: known, order: known?.relativePriority ?? .lowest, isResolved: known != nil, origin: origin,
                policy: policy, isBarrier: isBarrier,
                hasConditions: hasConditions))
        ids.append(
            graph.operationCreated(
                assigned: assigned, origin: origin, policy: policy, isBarrier: isBarrier, hasConditions: hasConditions))
    }

    private mutating func add() throws -> Bool {
        guard let (index, id) = one(.created) else { return false }
        let queue = Int.random(in: queues.indices, using: &random)
        oracle.add(index, to: queue)
        try graph.operationAdded(id, to: queues[queue], &effects)
        return true
    }

    private mutating func depend() throws -> Bool {
        guard let (child, childID) = one(.created, .waiting, .evaluating, .ready, .running),
            let (parent, parentID) = one(.created, .waiting, .evaluating, .ready, .running)
        else { return false }
        if [.evaluating, .running].contains(oracle.operations[child].state) {
            #expect(throws: OperationGraphError.alreadyStarted(childID), "seed \(seed)") {
                try graph.dependencyAdded(of: childID, on: parentID, &effects)
            }
        } else if oracle.depends(parent, on: child) {
            cycles += 1
            let error = #expect(throws: OperationGraphError.self, "seed \(seed)") {
                try graph.dependencyAdded(of: childID, on: parentID, &effects)
            }
            checkCycle(error, child, parent)
        } else {
            do {
                try graph.dependencyAdded(of: childID, on: parentID, &effects)
                oracle.depend(child, on: parent)
            } catch .deadlock {
                // What a barrier has to do with it is another test's matter.
                deadlocks += 1
            }
        }
        return true
    }

    private mutating func undepend() throws -> Bool {
        guard let (child, childID) = one(.created, .waiting, .evaluating, .running) else { return false }
        let parents = oracle.operations[child].parents.filter { oracle.operations[$0].state != .finished }
        guard let parent = parents.randomElement(using: &random), let parentID = ids[parent] else { return false }
        if [.evaluating, .running].contains(oracle.operations[child].state) {
            #expect(throws: OperationGraphError.alreadyStarted(childID), "seed \(seed)") {
                try graph.dependencyRemoved(of: childID, on: parentID, &effects)
            }
        } else {
            oracle.operations[child].parents.removeAll { $0 == parent }
            try graph.dependencyRemoved(of: childID, on: parentID, &effects)
        }
        return true
    }

    /// The error names operations each of which depends on the next, and the last on the first, as would have come
    /// about.
    private func checkCycle(_ error: OperationGraphError?, _ child: Int, _ parent: Int) {
        guard case .cycle(let named) = error else {
            Issue.record("seed \(seed): \(String(describing: error)) is no cycle")
            return
        }
        let indices = named.compactMap { id in ids.firstIndex { $0 == id } }
        #expect(indices.count == named.count && indices.first == child, "seed \(seed)")
        for (one, next) in zip(indices, indices.dropFirst() + indices.prefix(1)) {
            let isNew = one == child && next == parent
            #expect(isNew || oracle.operations[one].parents.contains(next), "seed \(seed): \(indices)")
        }
    }

    private mutating func dependOnLost() throws -> Bool {
        guard let (child, id) = one(.created, .waiting, .ready) else { return false }
        let outcome = OperationOutcome.allCases.randomElement(using: &random) ?? .failed
        try graph.dependencyAdded(of: id, onFinished: outcome, &effects)
        guard outcome != .succeeded, oracle.operations[child].policy == .cancel else { return true }
        if oracle.operations[child].state == .created {
            oracle.operations[child].isDoomed = true
        } else {
            oracle.end(child)
        }
        return true
    }

    private mutating func finish(_ index: Int, _ id: OperationID, _ outcome: OperationOutcome) {
        oracle.finish(index, outcome)
        graph.operationFinished(id, outcome, &effects)
    }

    private mutating func resume() throws -> Bool {
        let index = Int.random(in: queues.indices, using: &random)
        if oracle.queues[index].isSuspended {
            oracle.queues[index].suspensions -= 1
            try graph.queueResumed(queues[index], &effects)
        } else {
            #expect(throws: OperationGraphError.notSuspended(queues[index])) {
                try graph.queueResumed(queues[index], &effects)
            }
        }
        return true
    }

    // MARK: Agreement

    private func compare(started: [[Int]], asked: Set<Int>, before: [QoSLevel?], lowered: Bool) throws {
        let note: Comment = "seed \(seed), \(last)"
        var (startedHere, isRaised) = (queues.map { _ in [OperationID]() }, Set(effects.raised.map(\.operation)))
        for id in effects.started {
            let index = try #require(ids.firstIndex(of: id), note)
            startedHere[try #require(oracle.operations[index].queue, note)].append(id)
        }
        try #require(startedHere == started.map { $0.compactMap { ids[$0] } }, note)
        try #require(Set(effects.conditionsDue) == Set(asked.compactMap { ids[$0] }), note)
        try #require(Set(effects.finished.map(\.operation)) == Set(oracle.ended.compactMap { ids[$0] }), note)
        for (index, operation) in oracle.operations.enumerated() {
            guard let id = ids[index] else { continue }
            try #require(graph.isFinished(id) == (operation.state == .finished), note)
            try #require(graph.isRunning(id) == (operation.state == .running), note)
            guard operation.state != .finished else { continue }
            try #require(graph.level(of: id) == operation.level ?? operation.origin.fallback, note)
            // Monotone until finished, but for O7; and what rose is named, once.
            if let old = index < before.count ? before[index] : nil, let new = operation.level {
                if !lowered { try #require(new >= old, note) }
                if new > old { try #require(isRaised.remove(id) != nil, note) }
            } else {
                isRaised.remove(id)
            }
        }
        for finish in effects.finished { isRaised.remove(finish.operation) }
        try #require(isRaised.isEmpty, note)
        try #require(Set(effects.raised.map(\.operation)).count == effects.raised.count, note)
        for (index, queue) in oracle.queues.enumerated() {
            try #require(graph.level(of: queues[index]) == queue.level, note)
            try #require(
                graph.members(of: queues[index]).compactMap { id in ids.firstIndex(of: id) }.sorted()
                    == oracle.members(of: index), note)
        }
    }
}
