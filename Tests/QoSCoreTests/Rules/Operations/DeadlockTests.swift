import QoSCore
import Testing

@Suite("Deadlocks of operations")
struct DeadlockTests {
    private func wait(_ waiter: OperationID, _ awaited: OperationID, _ reason: OperationWaitReason) -> GraphWait {
        GraphWait(waiter: waiter, awaited: awaited, cause: reason)
    }

    @Test("What is refused as a deadlock gets stuck if it is done all the same; what is not refused gets done")
    func random() throws {
        var refusals: [OperationWaitReason: Int] = [:]
        for seed in UInt64(0)..<300 {
            var world = DeadlockWorld(seed: seed)
            for _ in 0..<80 { try world.step() }
            try world.runToEnd()
            refusals.merge(world.refusals, uniquingKeysWith: +)
        }
        for reason in OperationWaitReason.allCases { #expect(refusals[reason, default: 0] > 20, "\(reason)") }
    }

    @Test(
        "O10 a barrier that depends on what is added behind it: refused when that is added, or when the dependency is")
    func barrier() throws {
        var world = GraphWorld()
        let queue = world.queue()
        let (barrier, later) = (world.operation(barrier: true), world.operation())
        try world.depend(barrier, on: later)
        try world.add(barrier, to: queue)
        #expect(
            world.graph.deadlock(adding: [later], to: queue) == [
                wait(later, barrier, .barrier), wait(barrier, later, .dependency),
            ])
        let elsewhere = world.queue()
        #expect(world.graph.deadlock(adding: [later], to: elsewhere) == nil)

        let second = try world.added(to: queue)
        #expect(
            throws: OperationGraphError.deadlock([
                wait(barrier, second, .dependency), wait(second, barrier, .barrier),
            ])
        ) { try world.depend(barrier, on: second) }
    }

    @Test("O10 what stands in front of a barrier and depends on what is behind it; in a list, too")
    func aroundBarrier() throws {
        var world = GraphWorld()
        let queue = world.queue()
        let (front, barrier, behind) = (world.operation(), world.operation(barrier: true), world.operation())
        try world.depend(front, on: behind)
        #expect(world.graph.deadlock(adding: [front, behind], to: queue) == nil)
        #expect(world.graph.deadlock(adding: [behind, barrier, front], to: queue) == nil)
        #expect(
            world.graph.deadlock(adding: [front, barrier, behind], to: queue) == [
                wait(behind, barrier, .barrier), wait(barrier, front, .barrier), wait(front, behind, .dependency),
            ])
    }

    @Test("A wait in a body counts like a dependency, also for a dependency that is added while it lasts")
    func waits() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let (first, second) = (try world.added(to: queue), try world.added(to: queue))
        let dependent = world.operation()
        try world.depend(dependent, on: first)
        #expect(throws: OperationGraphError.deadlock([wait(first, first, .wait)])) {
            try world.graph.waitBegan(by: first, for: first)
        }
        #expect(
            throws: OperationGraphError.deadlock([
                wait(first, dependent, .wait), wait(dependent, first, .dependency),
            ])
        ) { try world.graph.waitBegan(by: first, for: dependent) }
        let begun = try world.graph.waitBegan(by: first, for: second)
        #expect(
            throws: OperationGraphError.deadlock([wait(second, first, .wait), wait(first, second, .wait)])
        ) { try world.graph.waitBegan(by: second, for: first) }
        let later = world.operation()
        try world.graph.waitBegan(by: second, for: later)
        #expect(
            throws: OperationGraphError.deadlock([
                wait(later, first, .dependency), wait(first, second, .wait), wait(second, later, .wait),
            ])
        ) { try world.depend(later, on: first) }
        world.graph.waitEnded(begun)
        try world.depend(later, on: first)
    }

    @Test("A wait is over when what it was for has ended, whoever has its number then")
    func staleWait() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let waiter = try world.added(to: queue)
        let awaited = try world.added(to: queue)
        try world.graph.waitBegan(by: waiter, for: awaited)
        world.finish(awaited)
        world.event { $0.forget(awaited, &$1) }
        let successor = world.operation()
        #expect(successor == awaited)
        try world.depend(successor, on: waiter)
    }

    @Test("A wait for a queue counts for what is added to it while it lasts")
    func queueWait() throws {
        var world = GraphWorld()
        let (queue, other) = (world.queue(suspended: false), world.queue(suspended: false))
        let waiter = try world.added(to: queue)
        try world.graph.waitBegan(by: waiter, for: other)
        let idle = world.operation()
        try world.depend(idle, on: waiter)
        #expect(world.graph.deadlock(adding: [idle], to: other) == nil, "nobody waits for an idle queue")
        let running = try world.added(to: other)
        try world.graph.waitBegan(by: waiter, for: other)
        #expect(
            world.graph.deadlock(adding: [idle], to: other) == [
                wait(idle, waiter, .dependency), wait(waiter, idle, .wait),
            ])
        world.finish(running)
        let isIdle = world.graph.queueIdle(other)
        #expect(!isIdle)
        #expect(world.graph.deadlock(adding: [idle], to: other) == nil)
    }

    @Test(
        "In a queue whose places are all taken by those who wait, none of them must wait for those behind",
        arguments: [1, 2, 64])
    func places(limit: Int) throws {
        var world = GraphWorld()
        let queue = world.queue(limit: limit, suspended: false)
        let running = try (0..<limit).map { _ in try world.added(to: queue) }
        let parent = world.operation()
        let waiting = world.operation(policy: .runAnyway)
        try world.depend(waiting, on: parent)
        try world.add(waiting, to: queue)
        // As long as one of them does not wait, its place comes free.
        for operation in running.dropLast() { try world.graph.waitBegan(by: operation, for: waiting) }
        let last = try #require(running.last)
        #expect(
            throws: OperationGraphError.deadlock([wait(last, waiting, .wait), wait(waiting, last, .limit)])
        ) { try world.graph.waitBegan(by: last, for: waiting) }
        world.finish(last)
        world.event { $0.forget(last, &$1) }
        world.finish(parent)
        #expect(world.effects.started == [waiting])
    }

    @Test("What is waited for is refused by a queue whose places are all taken by those who wait for it")
    func addedTooLate() throws {
        var world = GraphWorld()
        let (queue, other) = (world.queue(limit: 2, suspended: false), world.queue())
        let (first, second) = (try world.added(to: queue), try world.added(to: queue))
        let (awaited, behind) = (world.operation(), try world.added(to: other))
        try world.graph.waitBegan(by: first, for: awaited)
        #expect(world.graph.deadlock(adding: [awaited], to: queue) == nil)
        // Over another queue: what it waits for there waits for what is added here.
        try world.depend(behind, on: awaited)
        let begun = try world.graph.waitBegan(by: second, for: behind)
        #expect(
            world.graph.deadlock(adding: [awaited], to: queue) == [
                wait(awaited, first, .limit), wait(first, awaited, .wait),
            ])
        #expect(world.graph.deadlock(adding: [awaited], to: other) == nil)
        world.graph.waitEnded(begun)
        #expect(world.graph.deadlock(adding: [awaited], to: queue) == nil)
    }

    @Test("An operation waits for all that it and its children wait for, until each of these waits has ended")
    func severalWaits() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let (parent, other) = (try world.added(to: queue), try world.added(to: queue))
        let awaited = world.operation()
        let own = try world.graph.waitBegan(by: parent, for: awaited)
        let ofChild = try world.graph.waitBegan(by: parent, for: other)
        let refused = OperationGraphError.deadlock([wait(other, parent, .wait), wait(parent, other, .wait)])
        #expect(throws: refused) { try world.graph.waitBegan(by: other, for: parent) }
        world.graph.waitEnded(own)
        #expect(throws: refused) { try world.graph.waitBegan(by: other, for: parent) }
        world.graph.waitEnded(ofChild)
        world.graph.waitEnded(ofChild)
        try world.graph.waitBegan(by: other, for: parent)
    }

    @Test("A limit that is lowered under those who wait is found by the next one who waits there")
    func loweredLimit() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 2, suspended: false)
        let (first, second) = (try world.added(to: queue), try world.added(to: queue))
        let parent = world.operation()
        let waiting = world.operation(policy: .runAnyway)
        try world.depend(waiting, on: parent)
        try world.add(waiting, to: queue)
        try world.graph.waitBegan(by: first, for: waiting)
        world.event { $0.limitSet(of: queue, to: 1, &$1) }
        #expect(
            throws: OperationGraphError.deadlock([
                wait(second, first, .wait), wait(first, waiting, .wait), wait(waiting, second, .limit),
            ])
        ) { try world.graph.waitBegan(by: second, for: first) }
    }

    @Test("What only stands behind a circle is no part of it, and is added: alone, in a list, awaited or not")
    func behindCircle() throws {
        var world = GraphWorld()
        let (queue, other) = (world.queue(limit: 2, suspended: false), world.queue(suspended: false))
        let first = try world.added(to: queue)
        _ = try world.added(to: queue)
        let behind = try world.added(to: queue)
        try world.graph.waitBegan(by: first, for: behind)
        // The circle: it is found by nobody.
        world.event { $0.limitSet(of: queue, to: 1, &$1) }
        let (parent, child) = (world.operation(), world.operation())
        try world.depend(child, on: parent)
        #expect(world.graph.deadlock(adding: [parent], to: queue) == nil)
        #expect(world.graph.deadlock(adding: [parent, child], to: queue) == nil)
        let waiter = try world.added(to: other)
        try world.graph.waitBegan(by: waiter, for: queue)
        #expect(world.graph.deadlock(adding: [parent], to: queue) == nil)
        #expect(world.graph.deadlock(adding: [parent, child], to: queue) == nil)
        // One that closes a circle of its own is refused as before.
        let closing = world.operation()
        try world.depend(closing, on: waiter)
        #expect(
            Set(world.graph.deadlock(adding: [parent, closing], to: queue) ?? []) == [
                wait(closing, waiter, .dependency), wait(waiter, closing, .wait),
            ])
    }

    @Test("A wait behind a chain of 100 000 is judged without recursion")
    func longChain() throws {
        var world = GraphWorld()
        let (queue, other) = (world.queue(suspended: false), world.queue())
        let first = try world.added(to: queue)
        var last = first
        for _ in 0..<100_000 {
            let next = try world.added(to: other)
            try world.depend(next, on: last)
            last = next
        }
        #expect(throws: OperationGraphError.self) { try world.graph.waitBegan(by: first, for: last) }
    }

    @Test(
        "No more operations than that start in one event, and the rest when it is asked for", arguments: [1, 64, 1000])
    func startsAtOnce(count: Int) throws {
        var world = GraphWorld(graph: OperationGraph(startsAtOnce: count))
        let queue = world.queue()
        let ids = try (0..<500).map { _ in try world.added(to: queue) }
        try world.resume(queue)
        var started = world.effects.started
        #expect(started.count == min(count, 500))
        while world.graph.hasMoreToStart {
            world.event { $0.startedSome(&$1) }
            #expect(world.effects.started.count <= count)
            started += world.effects.started
        }
        #expect(started == ids)
    }

    @Test("A barrier that comes while a list is being added stands behind all of the list")
    func listAndBarrier() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let ids = (0..<3).map { _ in world.operation() }
        var list = world.graph.listBegan(3, in: queue)
        world.event { try? $0.operationAdded(ids[0], to: queue, at: list.next(), &$1) }
        world.finish(ids[0])
        let barrier = try world.added(to: queue, barrier: true)
        #expect(!world.graph.isRunning(barrier))
        world.event { try? $0.operationAdded(ids[1], to: queue, at: list.next(), &$1) }
        #expect(world.effects.started == [ids[1]])
        world.finish(ids[1])
        #expect(world.effects.started.isEmpty)
        world.event { $0.leftOut(list.next(), in: queue, &$1) }
        #expect(world.effects.started == [barrier])
    }

    // MARK: Waits that a failure may end

    /// A running operation that waits for another one, which depends on it and on a third one.
    private func hopeful(
        policy: FailedDependencyPolicy = .cancel
    ) throws -> (world: GraphWorld, waiter: OperationID, awaited: OperationID, third: OperationID) {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let waiter = try world.added(to: queue)
        let (awaited, third) = (world.operation(policy: policy), world.operation())
        try world.depend(awaited, on: waiter)
        try world.depend(awaited, on: third)
        return (world, waiter, awaited, third)
    }

    /// Ends the waits that cannot end by themselves after the last event.
    private func refusals(_ world: inout GraphWorld) -> [[GraphWait]] {
        var refused: [[GraphWait]] = []
        world.event { graph, effects in
            graph.endHopelessWaits(&effects)
            refused = effects.refused.map(\.circle)
        }
        return refused
    }

    @Test("O9 a wait is not refused if another dependency of the awaited operation may fail, and so end it")
    func dependencyMayFail() throws {
        var (world, waiter, awaited, third) = try hopeful()
        try world.graph.waitBegan(by: waiter, for: awaited)
        #expect(refusals(&world) == [])
        world.finish(third, .failed)
        #expect(refusals(&world) == [])
        let queue = world.queue(suspended: false)
        try world.add(awaited, to: queue)
        #expect(world.effects.finished.map(\.operation) == [awaited])
    }

    @Test("O9 such a wait is refused with its circle once that dependency has succeeded, and only then")
    func hopeIsLost() throws {
        var (world, waiter, awaited, third) = try hopeful()
        try world.graph.waitBegan(by: waiter, for: awaited)
        world.finish(third)
        #expect(refusals(&world) == [[wait(waiter, awaited, .wait), wait(awaited, waiter, .dependency)]])
        #expect(refusals(&world) == [], "once")
        world.finish(waiter)
    }

    @Test("O9 a wait for an operation that runs whatever its dependencies do is refused at once")
    func runsAnyway() throws {
        var (world, waiter, awaited, _) = try hopeful(policy: .runAnyway)
        #expect(
            throws: OperationGraphError.deadlock([
                wait(waiter, awaited, .wait), wait(awaited, waiter, .dependency),
            ])
        ) { try world.graph.waitBegan(by: waiter, for: awaited) }
    }

    @Test("O9 a wait is not refused while conditions of the awaited operation are asked; it is when they are met")
    func conditionMayFail() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 1, suspended: false)
        let waiter = try world.added(to: queue)
        let awaited = try world.added(to: queue, conditions: true)
        #expect(world.effects.conditionsDue == [awaited])
        try world.graph.waitBegan(by: waiter, for: awaited)
        #expect(refusals(&world) == [])
        world.event { $0.conditionsMet(awaited, &$1) }
        #expect(refusals(&world) == [[wait(waiter, awaited, .wait), wait(awaited, waiter, .limit)]])
    }

    @Test("O9 the end of the hope by a new dependency is found, too")
    func hopeWaitsItself() throws {
        var (world, waiter, awaited, third) = try hopeful()
        try world.graph.waitBegan(by: waiter, for: awaited)
        try world.depend(third, on: waiter)
        let circles = refusals(&world)
        #expect(circles.count == 1)
        #expect(circles.first?.first?.waiter == waiter)
    }

    @Test("O9 two such waits that depend on one another: one is refused when the hope of both is gone")
    func entangled() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let (a, d) = (try world.added(to: queue), try world.added(to: queue))
        let (b, e, hope) = (world.operation(), world.operation(), world.operation())
        for parent in [d, hope] { try world.depend(b, on: parent) }
        for parent in [a, hope] { try world.depend(e, on: parent) }
        try world.graph.waitBegan(by: a, for: b)
        try world.graph.waitBegan(by: d, for: e)
        #expect(refusals(&world) == [])
        world.finish(hope)
        #expect(refusals(&world).count == 1)
        #expect(refusals(&world) == [])
    }
}
