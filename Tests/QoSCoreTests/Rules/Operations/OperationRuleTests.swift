import QoSCore
import Testing

@Suite("Rules O: operations")
struct OperationRuleTests {
    static func origin(
        operation: QoSLevel? = nil, activity: QoSLevel? = nil, creator: QoSLevel? = nil, main: Bool = false
    ) -> OperationOrigin {
        OperationOrigin(operation: operation, activity: activity, creator: creator, isInteractiveMain: main)
    }

    @Test(
        "O1 a level is inferred from the creating operation, the queue, the activity, the creator, in this order",
        arguments: [
            (.utility, .background, .default, .userInitiated, .utility),
            (nil, .background, .default, .userInitiated, .background),
            (nil, nil, .utility, .userInitiated, .utility),
            (nil, nil, nil, .userInitiated, .userInitiated),
            (nil, nil, nil, nil, .default),
        ] as [(QoSLevel?, QoSLevel?, QoSLevel?, QoSLevel?, QoSLevel)])
    func o1(operation: QoSLevel?, queue: QoSLevel?, activity: QoSLevel?, creator: QoSLevel?, expected: QoSLevel) throws
    {
        var world = GraphWorld()
        let place = world.queue(queue)
        let id = world.operation(origin: Self.origin(operation: operation, activity: activity, creator: creator))
        try world.add(id, to: place)
        #expect(world.levels(id) == [expected])
    }

    @Test("O1 an assigned level is not inferred, whatever the creating operation's")
    func o1Assigned() throws {
        var world = GraphWorld()
        let id = world.operation(.background, origin: Self.origin(operation: .userInitiated))
        try world.add(id, to: world.queue())
        #expect(world.levels(id) == [.background])
    }

    @Test("O2 created on the main thread of an interactive process: userInitiated, if nothing else gives a level")
    func o2() throws {
        var world = GraphWorld()
        let main = Self.origin(creator: .userInteractive, main: true)
        let (free, queued) = (world.operation(origin: main), world.operation(origin: main))
        try world.add(free, to: world.queue())
        try world.add(queued, to: world.queue(.utility))
        #expect(world.levels(free, queued) == [.userInitiated, .utility])
        #expect(Self.origin(activity: .background, creator: .userInteractive, main: true).fallback == .background)
    }

    @Test("O3 an operation added to a queue of a higher level is promoted to it", arguments: QueueRuleTests.pairs)
    func o3(low: QoSLevel, high: QoSLevel) throws {
        var world = GraphWorld()
        let queue = world.queue(high)
        let id = try world.added(low, to: queue)
        #expect(world.levels(id) == [high])
        #expect(world.effects.raised == [.init(operation: id, old: low, new: high, isRunning: false)])
        #expect(world.graph.level(of: queue) == high)
    }

    @Test("O4 an operation takes its promoted queue's level if that is higher than its own")
    func o4() throws {
        var world = GraphWorld()
        let queue = world.queue(.utility)
        let ids = try [QoSLevel.utility, .default].map { try world.added($0, to: queue) }
        world.set(queue, to: .default)
        #expect(world.levels(ids[0], ids[1]) == [.default, .default])
        world.set(queue, to: .userInitiated)
        #expect(world.levels(ids[0], ids[1]) == [.userInitiated, .userInitiated])
    }

    @Test("O5 what a higher operation depends on takes its level, transitively and across queues")
    func o5() throws {
        var world = GraphWorld()
        let (one, other) = (world.queue(), world.queue())
        let grandparent = try world.added(.background, to: one)
        let parent = try world.added(.background, to: other)
        let stranger = try world.added(.background, to: other)
        try world.depend(parent, on: grandparent)
        try world.depend(try world.added(.userInitiated, to: one), on: parent)
        #expect(world.levels(grandparent, parent, stranger) == [.userInitiated, .userInitiated, .background])
        #expect(world.raised == [grandparent, parent])
    }

    @Test("O5 holds later too: when the child's level rises by any rule, its unfinished parents follow")
    func o5Later() throws {
        for cause in ["property", "queue's property", "queue's promotion", "waiter", "grandchild"] {
            var world = GraphWorld()
            let (queue, elsewhere) = (world.queue(.utility), world.queue(suspended: false))
            let running = try world.added(.background, to: elsewhere)
            let finished = try world.added(.background, to: elsewhere)
            let child = try world.added(.utility, to: queue)
            try world.depend(child, on: running)
            try world.depend(child, on: finished)
            world.finish(finished)
            switch cause {
            case "property": world.set(child, to: .userInitiated)
            case "queue's property": world.set(queue, to: .userInitiated)
            case "queue's promotion": _ = try world.added(.userInitiated, to: queue)
            case "waiter": world.event { $0.operationWaitedFor(child, at: .userInitiated, &$1) }
            default: try world.depend(try world.added(.userInitiated, to: world.queue()), on: child)
            }
            #expect(world.levels(child, running) == [.userInitiated, .userInitiated], "\(cause)")
            #expect(world.graph.level(of: finished) == .utility, "\(cause): it has finished")
        }
    }

    @Test("O6 a raise by the property promotes the children and what stands in front of it in its queue")
    func o6() throws {
        var world = GraphWorld()
        let (queue, elsewhere) = (world.queue(limit: 1, suspended: false), world.queue())
        let running = try world.added(.background, to: queue)
        let front = try world.added(.background, to: queue)
        let raised = try world.added(.background, to: queue)
        let behind = try world.added(.background, to: queue)
        let child = try world.added(.background, to: elsewhere)
        let grandchild = try world.added(.background, to: elsewhere)
        try world.depend(child, on: raised)
        try world.depend(grandchild, on: child)
        let parentOfFront = try world.added(.background, to: elsewhere)
        try world.depend(front, on: parentOfFront)
        world.set(raised, to: .userInitiated)
        #expect(world.raised == [running, front, raised, child, parentOfFront])
        #expect(world.levels(behind, grandchild) == [.background, .background])
        #expect(world.effects.raised.filter(\.isRunning).map(\.operation) == [running])
    }

    @Test("O7 a lowering by the property changes the operation alone")
    func o7() throws {
        var world = GraphWorld()
        let queue = world.queue(.utility)
        let (front, id) = (try world.added(to: queue), try world.added(.userInitiated, to: queue))
        let child = try world.added(.userInitiated, to: world.queue())
        try world.depend(child, on: id)
        world.set(id, to: .background)
        #expect(world.levels(front, id, child) == [.userInitiated, .background, .userInitiated])
        #expect(world.graph.level(of: queue) == .userInitiated)
        #expect(world.effects.raised.isEmpty)
    }

    @Test("O6 a list that is still being added is in front of what came meanwhile, and rises with that as a whole")
    func o6List() throws {
        var world = GraphWorld()
        let queue = world.queue()
        let ids = (0..<3).map { _ in world.operation(.background) }
        var list = world.graph.listBegan(ids.count, in: queue)
        world.event { try? $0.operationAdded(ids[0], to: queue, at: list.next(), &$1) }
        let barrier = try world.added(.background, to: queue, barrier: true)
        let behind = try world.added(.background, to: queue)
        for id in ids.dropFirst() { world.event { try? $0.operationAdded(id, to: queue, at: list.next(), &$1) } }
        #expect(world.graph.members(of: queue) == ids + [barrier, behind])
        world.set(barrier, to: .userInitiated)
        #expect(world.levels(ids[0], ids[1], ids[2]) == [.userInitiated, .userInitiated, .userInitiated])
        #expect(world.levels(barrier, behind) == [.userInitiated, .background])
    }

    @Test("O8 a promotion of a running operation says that it runs")
    func o8() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 1, suspended: false)
        let (running, waiting) = (try world.added(.utility, to: queue), try world.added(.utility, to: queue))
        world.event { $0.queueWaitedFor(queue, at: .userInteractive, &$1) }
        #expect(
            Set(world.effects.raised) == [
                .init(operation: running, old: .utility, new: .userInteractive, isRunning: true),
                .init(operation: waiting, old: .utility, new: .userInteractive, isRunning: false),
            ])
    }

    @Test("O9 waiting for an operation raises it, waiting for a queue all of its operations, never the queue")
    func o9() throws {
        var world = GraphWorld()
        let queue = world.queue(.utility)
        let (first, second) = (try world.added(to: queue), try world.added(to: queue))
        world.event { $0.operationWaitedFor(first, at: .userInitiated, &$1) }
        #expect(world.levels(first, second) == [.userInitiated, .utility])
        world.event { $0.operationWaitedFor(first, at: .background, &$1) }
        #expect(world.levels(first) == [.userInitiated], "a lower waiter lowers nothing")
        world.event { $0.queueWaitedFor(queue, at: .default, &$1) }
        #expect(world.levels(first, second) == [.userInitiated, .default])
        #expect(world.graph.level(of: queue) == .utility)
    }

    @Test("O9 what an operation waits for rises with it, by whatever rule, and so on; what it only watches does not")
    func o9Later() throws {
        for cause in ["property", "queue's property", "dependent", "waiter"] {
            var world = GraphWorld()
            let queue = world.queue(suspended: false)
            let (other, awaitedQueue) = (world.queue(suspended: false), world.queue())
            let waiter = try world.added(.utility, to: queue)
            let middle = try world.added(.background, to: other)
            let member = try world.added(.background, to: awaitedQueue)
            let (last, watched) = (world.operation(.background), world.operation(.background))
            let begun = try world.graph.waitBegan(by: waiter, for: middle)
            try world.graph.waitBegan(by: waiter, for: watched, promotes: false)
            try world.graph.waitBegan(by: middle, for: last)
            try world.graph.waitBegan(by: middle, for: awaitedQueue)
            switch cause {
            case "property": world.set(waiter, to: .userInitiated)
            case "queue's property": world.set(queue, to: .userInitiated)
            case "dependent": try world.depend(try world.added(.userInitiated, to: world.queue()), on: waiter)
            default: world.event { $0.operationWaitedFor(waiter, at: .userInitiated, &$1) }
            }
            let levels = world.levels(middle, last, member)
            #expect(levels == [.userInitiated, .userInitiated, .userInitiated], "\(cause)")
            #expect(world.levels(watched) == [.background], "\(cause)")
            #expect(world.raised == [waiter, middle, last, member], "\(cause)")
            #expect(world.graph.levelOfWaiters(for: awaitedQueue) == .userInitiated, "\(cause)")
            world.graph.waitEnded(begun)
            world.set(waiter, to: .userInteractive)
            #expect(world.levels(middle) == [.userInitiated], "\(cause): the wait is over")
        }
    }

    @Test("O9 a raise within the class of a waiting operation comes to what it waits for")
    func o9Relative() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let low = QoSLevel(.utility, relativePriority: RelativePriority(clamping: -5))
        let (waiter, awaited) = (try world.added(low, to: queue), world.operation(.background))
        try world.graph.waitBegan(by: waiter, for: awaited)
        world.event { $0.operationWaitedFor(awaited, at: low, &$1) }
        world.event { $0.operationWaitedFor(waiter, at: .utility, &$1) }
        #expect(world.levels(awaited) == [.utility])
    }

    @Test("O10 a dependency that closes a cycle is refused, and the cycle is named", arguments: 1...6)
    func o10Cycle(length: Int) throws {
        var world = GraphWorld()
        let ids = (0..<length).map { _ in world.operation() }
        for (child, parent) in zip(ids.dropFirst(), ids) { try world.depend(child, on: parent) }
        let named: [OperationID] = [ids[0]] + ids.dropFirst().reversed()
        #expect(throws: OperationGraphError.cycle(named)) { try world.depend(ids[0], on: ids[length - 1]) }
        // Refused means as before: the first one runs.
        let queue = world.queue(suspended: false)
        for id in ids { try world.add(id, to: queue) }
        #expect(world.graph.isRunning(ids[0]))
    }

    @Test("O10 a dependency of a started or finished operation is refused; of a ready one it is not")
    func o10Started() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 1, suspended: false)
        let (running, ready) = (try world.added(to: queue), try world.added(to: queue))
        let parent = world.operation()
        #expect(throws: OperationGraphError.alreadyStarted(running)) { try world.depend(running, on: parent) }
        try world.depend(ready, on: parent)
        world.finish(running)
        #expect(throws: OperationGraphError.alreadyStarted(running)) { try world.depend(running, on: parent) }
        #expect(!world.graph.isRunning(ready))
        try world.add(parent, to: queue)
        world.finish(parent)
        #expect(world.effects.started == [ready])
    }

    @Test("O5 O10 a dependency that is removed is not waited for; the promotion that it gave stays")
    func removed() throws {
        var world = GraphWorld()
        let queue = world.queue(limit: 2, suspended: false)
        let parent = try world.added(.background, to: queue)
        let other = try world.added(.background, to: queue)
        let child = world.operation(.userInitiated)
        for _ in 0..<2 { try world.depend(child, on: parent) }
        try world.depend(child, on: other)
        try world.add(child, to: world.queue(suspended: false))
        #expect(world.graph.unfinishedParents(of: child) == [other, parent])
        world.event { try? $0.dependencyRemoved(of: child, on: parent, &$1) }
        #expect(world.graph.unfinishedParents(of: child) == [other])
        #expect(world.levels(parent, other) == [.userInitiated, .userInitiated])
        world.set(child, to: .userInteractive)
        #expect(world.levels(parent, other) == [.userInitiated, .userInteractive], "it follows no more")
        world.finish(other)
        #expect(world.effects.started == [child])
        #expect(throws: OperationGraphError.alreadyStarted(child)) {
            try world.event { graph, effects throws(OperationGraphError) in
                try graph.dependencyRemoved(of: child, on: parent, &effects)
            }
        }
        world.finish(parent, .failed)
        #expect(world.effects.finished.isEmpty)
    }

    @Test("O1 O6 O7 an operation whose level is taken back infers one: in a queue at once, else when it is added")
    func unset() throws {
        for (queueLevel, expected) in [(QoSLevel?.none, QoSLevel.utility), (.background, .background)] {
            var world = GraphWorld()
            let queue = world.queue(queueLevel)
            let origin = Self.origin(creator: .utility)
            let (early, late) = (
                world.operation(.background, origin: origin), world.operation(.userInitiated, origin: origin)
            )
            world.event { $0.levelUnset(of: early, &$1) }
            #expect(world.levels(early) == [.utility])
            for id in [early, late] { try world.add(id, to: queue) }
            let promoted = queueLevel == nil ? expected : .userInitiated
            #expect(world.levels(early) == [promoted])
            world.set(queue, to: queueLevel)
            world.event { $0.levelUnset(of: late, &$1) }
            #expect(world.levels(late) == [expected])
        }
    }

    @Test(
        "O11 a dependent of a failed or cancelled operation follows its policy",
        arguments: [OperationOutcome.failed, .cancelled])
    func o11(outcome: OperationOutcome) throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let failing = try world.added(to: queue)
        let unfinished = world.operation()
        let (cancelled, running) = (world.operation(), world.operation(policy: .runAnyway))
        let (below, fresh) = (world.operation(), world.operation())
        for id in [cancelled, running, fresh] { try world.depend(id, on: failing) }
        try world.depend(cancelled, on: unfinished)
        try world.depend(below, on: cancelled)
        for id in [cancelled, running, below] { try world.add(id, to: queue) }
        world.finish(failing, outcome)
        #expect(world.effects.finished.map(\.operation) == [cancelled, below])
        #expect(world.effects.finished.allSatisfy { $0.outcome == .dependencyFailed })
        #expect(world.effects.started == [running])
        try world.add(fresh, to: queue)
        #expect(world.effects.finished.map(\.operation) == [fresh], "added after its parent failed")
    }

    @Test("O11 an operation that is cancelled before it starts finishes at once, without running")
    func o11Cancelled() throws {
        var world = GraphWorld()
        let queue = world.queue()
        let (id, parent) = (try world.added(to: queue), world.operation())
        try world.depend(id, on: parent)
        world.finish(id, .cancelled)
        #expect(world.graph.isFinished(id))
        #expect(world.effects.idle == [queue])
        try world.add(parent, to: queue)
        try world.resume(queue)
        #expect(world.effects.started == [parent])
        world.finish(parent)
        #expect(world.effects.started.isEmpty && world.effects.finished.isEmpty)
    }

    @Test("O12 kinds have defaults")
    func o12() {
        #expect(OperationKind.plain.level == nil)
        #expect(OperationKind.network.level == .utility)
        #expect(OperationKind.remoteDatabase.level == .userInitiated)
        #expect(OperationKind.network.isDiscretionary(isInForegroundUse: false))
        #expect(!OperationKind.network.isDiscretionary(isInForegroundUse: true))
        #expect(!OperationKind.remoteDatabase.isDiscretionary(isInForegroundUse: false))
    }
}
