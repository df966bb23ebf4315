import QoSCore
import QoSTesting
import Testing

/// Random operations, barriers and waits in bodies, as a graph and as the little that it takes to run them: what the
/// graph refuses must get stuck when it is done all the same, and what it does not refuse must get done.
struct DeadlockWorld {
    private enum Target {
        case operation(OperationID)
        case queue(OperationQueueID)
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private var graph = OperationGraph()
    private var effects = OperationEffects()
    private var queues: [OperationQueueID] = []
    private var operations: [OperationID] = []
    private var created: [OperationID] = []
    /// Of the operations' own tasks, and of children of these: an operation has ended only when all of them have.
    private var waits: [(waiter: OperationID, target: Target, begun: OperationGraph.BegunWait?)] = []
    private(set) var refusals: [OperationWaitReason: Int] = [:]

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        for limit in [1, 2, .max] { queues.append(graph.queueCreated(limit: limit)) }
    }

    // MARK: What happens

    mutating func step() throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2: create()
        case 3, 4, 5: depend()
        case 6, 7: if let id = created.randomElement(using: &random) { try add(id) }
        case 8: try wait()
        default: if let id = runnable.randomElement(using: &random) { finish(id) }
        }
    }

    /// Adds what is left, and runs all of it.
    mutating func runToEnd() throws {
        for id in created { try add(id) }
        // Refused: those that depend on them are not to wait for ever.
        for id in created { forget(id) }
        run()
        let stuck = operations.filter { !graph.isFinished($0) }
        #expect(stuck.isEmpty, "seed \(seed): \(stuck) waits \(waits)")
    }

    private mutating func create() {
        let isBarrier = Int.random(in: 0..<5, using: &random) == 0
        let id = graph.operationCreated(policy: .runAnyway, isBarrier: isBarrier)
        operations.append(id)
        created.append(id)
    }

    private mutating func depend() {
        let open = operations.filter { !graph.isFinished($0) }
        guard let child = open.randomElement(using: &random), let parent = open.randomElement(using: &random) else {
            return
        }
        do {
            try graph.dependencyAdded(of: child, on: parent, &effects)
        } catch {
            if case .deadlock(let waits) = error { note(waits) }
        }
    }

    private mutating func add(_ id: OperationID) throws {
        guard let queue = queues.randomElement(using: &random) else { return }
        if let refusal = graph.deadlock(adding: [id], to: queue) {
            note(refusal)
            var reckless = self
            try reckless.graph.operationAdded(id, to: queue, &reckless.effects)
            try reckless.expectStuck(refusal)
        } else {
            try graph.operationAdded(id, to: queue, &effects)
            created.removeAll { $0 == id }
        }
    }

    private mutating func wait() throws {
        let isChild = Int.random(in: 0..<4, using: &random) == 0
        let candidates = isChild ? operations.filter { graph.isRunning($0) } : runnable
        guard let waiter = candidates.randomElement(using: &random) else { return }
        var target: Target?
        if Bool.random(using: &random) {
            target = operations.filter { !graph.isFinished($0) }.randomElement(using: &random).map { .operation($0) }
        } else {
            target = queues.randomElement(using: &random).map { .queue($0) }
        }
        guard let target else { return }
        do {
            let begun: OperationGraph.BegunWait? =
                switch target {
                case .operation(let id): try graph.waitBegan(by: waiter, for: id)
                case .queue(let queue): try graph.waitBegan(by: waiter, for: queue)
                }
            waits.append((waiter, target, begun))
            endWaits()
        } catch {
            guard case .deadlock(let refusal) = error else { throw error }
            note(refusal)
            var reckless = self
            reckless.waits.append((waiter, target, nil))
            try reckless.expectStuck(refusal)
        }
    }

    private mutating func note(_ refusal: [GraphWait]) {
        for wait in refusal { refusals[wait.cause, default: 0] += 1 }
        for (wait, next) in zip(refusal, refusal.dropFirst() + refusal.prefix(1)) {
            #expect(wait.awaited == next.waiter, "seed \(seed): \(refusal)")
        }
    }

    // MARK: Running

    /// The operations that run and wait for nothing.
    private var runnable: [OperationID] { operations.filter { graph.isRunning($0) && !isWaiting($0) } }

    private func isWaiting(_ id: OperationID) -> Bool { waits.contains { $0.waiter == id } }

    private mutating func finish(_ id: OperationID) {
        graph.operationFinished(id, .succeeded, &effects)
        endWaits()
    }

    private mutating func forget(_ id: OperationID) {
        graph.operationFinished(id, .cancelled, &effects)
        created.removeAll { $0 == id }
        endWaits()
    }

    private mutating func endWaits() {
        for wait in waits where isOver(wait.target) {
            if let begun = wait.begun { graph.waitEnded(begun) }
        }
        waits = waits.filter { !isOver($0.target) }
    }

    private func isOver(_ target: Target) -> Bool {
        switch target {
        case .operation(let id): graph.isFinished(id)
        case .queue(let queue): graph.unfinishedCount(of: queue) == 0
        }
    }

    private mutating func run() {
        for queue in queues { try? graph.queueResumed(queue, &effects) }
        while let id = runnable.first { finish(id) }
    }

    /// Runs all operations that can run: none of the circle may be among them.
    private mutating func expectStuck(_ refusal: [GraphWait]) throws {
        run()
        for wait in refusal { try #require(!graph.isFinished(wait.waiter), "seed \(seed): \(refusal)") }
    }
}
