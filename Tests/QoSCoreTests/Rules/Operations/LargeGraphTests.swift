import QoSCore
import Testing

@Suite("Operation graphs of a million")
struct LargeGraphTests {
    @Test("A chain of a million is built from either end, raised at its end, and run, on a small stack")
    func chain() throws {
        for buildsFromStart in [true, false] {
            let count = 1_000_000
            var world = GraphWorld()
            let queue = world.queue()
            let ids = (0..<count).map { _ in world.operation(.background) }
            for index in buildsFromStart ? Array(1..<count) : (1..<count).reversed() {
                try world.depend(ids[index], on: ids[index - 1])
            }
            for id in ids { try world.add(id, to: queue) }
            world.set(ids[count - 1], to: .userInitiated)
            #expect(world.effects.raised.count == count)
            try world.resume(queue)
            var (finished, next) = (0, world.effects.started.first)
            while let id = next {
                world.finish(id)
                next = world.effects.started.first
                world.event { $0.forget(id, &$1) }
                finished += 1
            }
            #expect(finished == count)
        }
    }

    @Test("A failure at the start of a chain of a million ends all of it")
    func failure() throws {
        let count = 1_000_000
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let first = world.operation()
        var last = first
        for _ in 1..<count {
            let id = world.operation()
            try world.depend(id, on: last)
            try world.add(id, to: queue)
            last = id
        }
        try world.add(first, to: queue)
        world.finish(first, .failed)
        #expect(world.effects.finished.count == count - 1)
        #expect(world.effects.idle.count == 1)
    }

    @Test("A million depend on one operation")
    func dependents() throws {
        let count = 1_000_000
        var world = GraphWorld()
        let queue = world.queue(suspended: false)
        let one = world.operation(.background)
        for _ in 0..<count {
            let id = world.operation(.utility)
            try world.depend(id, on: one)
            try world.add(id, to: queue)
        }
        #expect(world.levels(one) == [.utility])
        world.set(one, to: .default)
        #expect(world.effects.raised.count == count + 1)
        try world.add(one, to: queue)
        world.finish(one)
        #expect(world.effects.started.count == count)
    }

    @Test(
        "A raise at the end of a long chain touches what it changes: raising it again by a little costs no second walk")
    func touchesWhatChanges() throws {
        let count = 100_000
        var world = GraphWorld()
        let queue = world.queue()
        var last = try world.added(.background, to: queue)
        for _ in 1..<count {
            let id = try world.added(.background, to: queue)
            try world.depend(id, on: last)
            last = id
        }
        world.event { $0.operationWaitedFor(last, at: .userInitiated, &$1) }
        #expect(world.effects.raised.count == count)
        // A hundred thousand raises that change one operation each; each would walk the chain if it looked at more.
        for _ in 0..<count {
            let child = try world.added(.userInitiated, to: queue)
            try world.depend(child, on: last)
            #expect(world.effects.raised.isEmpty)
        }
    }
}
