import Testing

@testable import QoSCore

/// Graphs after as many events as make 32 bits overflow.
@Suite("Operation graphs of a long-lived process")
struct OldGraphTests {
    @Test("A queue goes on after four billion barriers")
    func barriers() throws {
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        world.graph.queues[Int(queue.index)].firstSegment = numericCast(UInt32.max - 3)
        for _ in 0..<10 {
            let before = try world.added(to: queue)
            let barrier = try world.added(to: queue, barrier: true)
            #expect(world.effects.started.isEmpty)
            world.finish(before)
            #expect(world.effects.started == [barrier])
            world.finish(barrier)
        }
    }

    @Test("Q5 after four billion promotions, one is held up by its own holders and by no other operation")
    func promotions() throws {
        var world = GraphWorld()
        let queue = world.queue(.utility, promotion: .whilePresent, suspended: false)
        world.graph.queues[Int(queue.index)].promotionEpoch = .max
        world.set(queue, to: .utility)
        let low = try world.added(.background, to: queue)
        let high = try world.added(.userInitiated, to: queue)
        world.finish(low)
        #expect(world.graph.level(of: queue) == .userInitiated)
        world.finish(high)
        #expect(world.graph.level(of: queue) == .utility)
    }

    @Test("O10 a cycle is found after four billion searches, and only where one is")
    func searches() throws {
        for last in [UInt32.max - 1, UInt32.max - 3] {
            var world = GraphWorld()
            world.graph.lastSearch = last
            for _ in 0..<3 {
                let (grandparent, parent) = (world.operation(), world.operation())
                let (child, grandchild) = (world.operation(), world.operation())
                try world.depend(parent, on: grandparent)
                try world.depend(grandchild, on: child)
                try world.depend(child, on: parent)
                #expect(throws: OperationGraphError.cycle([grandparent, grandchild, child, parent])) {
                    try world.depend(grandparent, on: grandchild)
                }
            }
        }
    }
}
