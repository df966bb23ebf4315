import QoSCore
import Testing

@Suite("Rules Q: queues and their operations")
struct QueueRuleTests {
    static let pairs: [(QoSLevel, QoSLevel)] = [
        (.background, .utility), (.utility, .default), (.default, .userInitiated), (.utility, .userInteractive),
        (QoSLevel(.utility, relativePriority: .lowest), .utility),
    ]

    @Test("Q1 an operation with a level leaves a queue without one, and its operations, as they are", arguments: pairs)
    func q1(low: QoSLevel, high: QoSLevel) throws {
        var world = GraphWorld()
        let queue = world.queue()
        let first = try world.added(low, to: queue)
        let second = try world.added(high, to: queue)
        #expect(world.levels(first, second) == [low, high])
        #expect(world.graph.level(of: queue) == nil)
        #expect(world.effects.raised.isEmpty)
    }

    @Test(
        "Q2 a higher operation promotes the queue, its waiting and running operations, and those added later",
        arguments: pairs)
    func q2(low: QoSLevel, high: QoSLevel) throws {
        var world = GraphWorld()
        let queue = world.queue(low, limit: 1, suspended: false)
        let running = try world.added(to: queue)
        let waiting = try world.added(low, to: queue)
        let higher = try world.added(high, to: queue)
        #expect(world.levels(running, waiting, higher) == [high, high, high])
        #expect(world.effects.raised.contains(.init(operation: running, old: low, new: high, isRunning: true)))
        #expect(world.effects.raised.contains(.init(operation: waiting, old: low, new: high, isRunning: false)))
        #expect(world.effects.raised.count == 2)
        #expect(world.graph.level(of: queue) == high)
        let later = try world.added(to: queue)
        let laterLow = try world.added(low, to: queue)
        #expect(world.levels(later, laterLow) == [high, high])
    }

    @Test("Q3 raising a queue's level promotes present and future operations", arguments: pairs)
    func q3(low: QoSLevel, high: QoSLevel) throws {
        var world = GraphWorld()
        let queue = world.queue(low, limit: 1, suspended: false)
        let (running, waiting) = (try world.added(to: queue), try world.added(to: queue))
        world.set(queue, to: high)
        #expect(world.raised == [running, waiting])
        #expect(world.levels(running, waiting) == [high, high])
        #expect(try world.levelOfAdded(to: queue) == high)
    }

    @Test("Q3 giving a level to a queue that had none promotes what is lower and nothing else")
    func q3FirstLevel() throws {
        var world = GraphWorld()
        let queue = world.queue()
        let (low, high) = (try world.added(.background, to: queue), try world.added(.userInitiated, to: queue))
        world.set(queue, to: .utility)
        #expect(world.levels(low, high) == [.utility, .userInitiated])
        #expect(world.raised == [low])
    }

    @Test(
        "Q4 lowering a queue's level leaves present operations; later ones infer it or keep a higher one",
        arguments: pairs)
    func q4(low: QoSLevel, high: QoSLevel) throws {
        var world = GraphWorld()
        let queue = world.queue(high)
        let present = try world.added(to: queue)
        world.set(queue, to: low)
        #expect(world.effects.raised.isEmpty)
        let inferring = try world.added(to: queue)
        #expect(world.levels(present, inferring) == [high, low])
        let keeping = try world.added(high, to: queue)
        #expect(world.levels(keeping) == [high])
    }

    @Test("Q5 a promotion lasts until the property is set")
    func q5UntilSet() throws {
        var world = GraphWorld()
        let queue = world.queue(.utility, suspended: false)
        let high = try world.added(.userInitiated, to: queue)
        world.finish(high)
        #expect(world.graph.level(of: queue) == .userInitiated)
        #expect(try world.levelOfAdded(to: queue) == .userInitiated)
        world.set(queue, to: .utility)
        #expect(world.graph.level(of: queue) == .utility)
        #expect(try world.levelOfAdded(to: queue) == .utility)
    }

    @Test("Q5 with whilePresent it lasts until the last operation that raised the queue has finished")
    func q5WhilePresent() throws {
        var world = GraphWorld()
        let queue = world.queue(.utility, promotion: .whilePresent, suspended: false)
        let low = try world.added(to: queue)
        let first = try world.added(.default, to: queue)
        let second = try world.added(.userInitiated, to: queue)
        let inferring = try world.added(to: queue)
        let third = try world.added(.default, to: queue)
        for id in [second, first] {
            world.finish(id)
            #expect(world.graph.level(of: queue) == .userInitiated)
        }
        world.finish(third)
        #expect(world.graph.level(of: queue) == .utility, "\(inferring) has inferred its level and holds up nothing")
        #expect(world.levels(low, inferring) == [.userInitiated, .userInitiated], "promotions of operations stay")
        #expect(try world.levelOfAdded(to: queue) == .utility)
    }

    @Test("Q5 what held up a promotion that the property ended is not taken for a holder of the next")
    func q5Epochs() throws {
        var world = GraphWorld()
        let queue = world.queue(.utility, promotion: .whilePresent, suspended: false)
        let old = try world.added(.userInitiated, to: queue)
        world.set(queue, to: .background)
        let new = try world.added(.default, to: queue)
        world.finish(old)
        #expect(world.graph.level(of: queue) == .default)
        world.finish(new)
        #expect(world.graph.level(of: queue) == .background)
    }
}
