import QoSCore
import Testing

@Suite("What an operation graph starts, and when")
struct StartingTests {
    @Test(
        "By level, relative priority included, then in the order of adding; a raised one keeps its place in the order")
    func order() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 1)
        let low = QoSLevel(.utility, relativePriority: RelativePriority(clamping: -3))
        let first = try world.added(low, to: queue)
        let second = try world.added(.utility, to: queue)
        let third = try world.added(.utility, to: queue)
        let fourth = try world.added(.userInitiated, to: queue)
        world.event { $0.operationWaitedFor(first, at: .utility, &$1) }
        try world.resume(queue)
        var started: [OperationID] = []
        while let next = world.effects.started.first {
            #expect(world.effects.started.count == 1)
            started.append(next)
            world.finish(next)
        }
        #expect(started == [fourth, first, second, third])
        #expect(world.effects.idle == [queue])
    }

    @Test("A barrier runs alone: after all before it, before all after it")
    func barrier() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let before = try [world.added(to: queue), world.added(to: queue)]
        let barrier = try world.added(.background, to: queue, barrier: true)
        let after = try [world.added(.userInteractive, to: queue), world.added(to: queue)]
        let second = try world.added(to: queue, barrier: true)
        #expect(before.allSatisfy(world.graph.isRunning))
        world.finish(before[1])
        #expect(world.effects.started.isEmpty)
        world.finish(before[0])
        #expect(world.effects.started == [barrier])
        world.finish(barrier)
        #expect(world.effects.started == after)
        world.finish(after[0])
        world.finish(after[1], .failed)
        #expect(world.effects.started == [second])
        world.finish(second)
        #expect(world.effects.idle == [queue])
    }

    @Test("A barrier on an idle queue starts at once; so does what comes after many barriers")
    func barriersOnly() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        for _ in 0..<1000 {
            let barrier = try world.added(to: queue, barrier: true)
            #expect(world.effects.started == [barrier])
            let after = try world.added(to: queue)
            #expect(world.effects.started.isEmpty)
            world.finish(barrier)
            #expect(world.effects.started == [after])
            world.finish(after)
        }
    }

    @Test("The limit holds, and counts again when it is changed")
    func limit() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 2, suspended: false)
        let ids = try (0..<6).map { _ in try world.added(to: queue) }
        #expect(world.graph.runningCount(of: queue) == 2)
        world.event { $0.limitSet(of: queue, to: 5, &$1) }
        #expect(world.effects.started == Array(ids[2..<5]))
        world.event { $0.limitSet(of: queue, to: 1, &$1) }
        for id in ids[0..<4] {
            world.finish(id)
            #expect(world.effects.started.isEmpty)
        }
        world.finish(ids[4])
        #expect(world.effects.started == [ids[5]])
    }

    @Test(
        "A suspended queue starts nothing until it has been resumed as often; resuming one that is not suspended is refused"
    )
    func suspension() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        world.graph.queueSuspended(queue)
        world.graph.queueSuspended(queue)
        let id = try world.added(to: queue)
        #expect(world.effects.started.isEmpty)
        try world.resume(queue)
        #expect(world.effects.started.isEmpty)
        try world.resume(queue)
        #expect(world.effects.started == [id])
        #expect(throws: OperationGraphError.notSuspended(queue)) { try world.resume(queue) }
    }

    @Test("An operation with conditions is asked when its dependencies have finished, and takes no place meanwhile")
    func conditions() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 1, suspended: false)
        let parent = world.operation()
        let asked = world.operation(conditions: true)
        try world.depend(asked, on: parent)
        try world.add(asked, to: queue)
        #expect(world.effects.conditionsDue.isEmpty)
        try world.add(parent, to: queue)
        world.finish(parent)
        #expect(world.effects.conditionsDue == [asked])
        let other = try world.added(to: queue)
        #expect(world.effects.started == [other])
        world.event { $0.conditionsMet(asked, &$1) }
        #expect(world.graph.isReady(asked))
        world.finish(other)
        #expect(world.effects.started == [asked])
    }

    @Test("An operation is in one queue, once")
    func addedTwice() throws {
        var world = GraphWorld()
        let (one, other) = (world.queue(), world.queue())
        let id = try world.added(to: one)
        #expect(throws: OperationGraphError.alreadyInQueue(id, one)) { try world.add(id, to: other) }
        #expect(throws: OperationGraphError.alreadyInQueue(id, one)) { try world.add(id, to: one) }
        #expect(world.graph.unfinishedCount(of: one) == 1 && world.graph.unfinishedCount(of: other) == 0)
    }

    @Test("A queue that is released runs what it has, even if it was suspended")
    func released() throws {
        var world = GraphWorld()
        let queue = world.queue()
        let id = try world.added(to: queue)
        var isGone = true
        world.event { isGone = $0.queueReleased(queue, &$1) }
        #expect(!isGone)
        #expect(world.effects.started == [id])
        world.finish(id)
        #expect(world.effects.idle == [queue])
        let isFreed = world.graph.queueIdle(queue)
        #expect(isFreed)
        #expect(world.queue() == queue, "its place is used again")
    }

    @Test("An operation that is forgotten without having been added counts as cancelled for what depends on it")
    func forgotten() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let parent = world.operation()
        let (child, other) = (world.operation(), world.operation(policy: .runAnyway))
        for id in [child, other] {
            try world.depend(id, on: parent)
            try world.add(id, to: queue)
        }
        world.event { $0.forget(parent, &$1) }
        #expect(world.effects.finished.map(\.operation) == [child])
        #expect(world.effects.started == [other])
    }
}
