import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@Suite("Work queues under stress", .tags(.stress), .timeLimit(.minutes(5)))
struct WorkQueueStressTests {
    /// The invariants of a world of queues.
    private final class World: Sendable {
        let queues: [WorkQueue]
        let isSerial: [Bool]
        let inside: [Tally]
        let outside: [Tally]
        let submitted = Tally()
        let ended = Tally()
        let overlaps = Tally()

        init(_ scheduler: QoSScheduler, seed: UInt64) throws {
            var random = SeededGenerator(seed: seed)
            var (queues, isSerial): ([WorkQueue], [Bool]) = ([], [])
            for number in 0..<6 {
                let serial = Bool.random(using: &random)
                let level =
                    Bool.random(using: &random) ? nil : QoSLevel(QoSClass.allCases.randomElement(using: &random)!)
                let queue = scheduler.makeQueue("\(number)", serial ? .serial : .concurrent, level: level)
                if number > 0, Int.random(in: 0..<3, using: &random) == 0 {
                    try queue.setTarget(queues[Int.random(in: 0..<number, using: &random)])
                }
                queues.append(queue)
                isSerial.append(serial)
            }
            self.queues = queues
            self.isSerial = isSerial
            inside = queues.map { _ in Tally() }
            outside = queues.map { _ in Tally() }
        }

        /// An item's closure.
        func work(on index: Int) {
            if inside[index].add() - outside[index].value != 1, isSerial[index] { overlaps.add() }
            ended.add()
            outside[index].add()
        }
    }

    private static func act(_ world: World, _ random: inout SeededGenerator) throws {
        let index = Int.random(in: world.queues.indices, using: &random)
        let queue = world.queues[index]
        let level = Bool.random(using: &random) ? nil : QoSLevel(QoSClass.allCases.randomElement(using: &random)!)
        let flags: WorkItemFlags = [[], .barrier, .enforceQoS, .detached, .noQoS].randomElement(using: &random)!
        world.submitted.add()
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            queue.async(level: level, flags: flags) { world.work(on: index) }
        case 4:
            try queue.sync(level: level, flags: flags) { world.work(on: index) }
        case 5:
            queue.async(after: .microseconds(Int.random(in: -10...500, using: &random)), level: level, flags: flags) {
                world.work(on: index)
            }
        case 6:
            let item = WorkItem(level: level, flags: flags) { world.work(on: index) }
            try queue.async(item)
            try item.blockUntilFinished()
        case 7:
            let item = WorkItem(level: level, flags: flags) { world.work(on: index) }
            try queue.async(item)
            _ = try item.blockUntilFinished(within: .microseconds(Int.random(in: -5...200, using: &random)))
        case 8:
            // Cancelled or not: it counts as ended when it is passed over as well.
            let item = WorkItem(level: level, flags: flags) {}
            try queue.async(item)
            item.cancel()
            item.notify(on: queue) { world.work(on: index) }
        default:
            try queue.suspend()
            queue.async(level: level, flags: flags) { world.work(on: index) }
            try queue.resume()
        }
    }

    @Test(
        "random submission, waiting, cancellation and suspension from many threads",
        arguments: 1...24 as ClosedRange<UInt64>)
    func random(seed: UInt64) async throws {
        let processors = Int(seed % 3) + 1
        try await withScheduler(.init(processors: processors, appliesKernelEffects: seed % 4 == 0)) { scheduler in
            let world = try World(scheduler, seed: seed)
            let actors = 6
            let group = WorkGroup()
            var threads: [RunningThread] = []
            for actor in 0..<actors {
                group.enter()
                let body: @Sendable () -> Void = {
                    var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(actor))
                    for _ in 0..<300 { #expect(throws: Never.self) { try Self.act(world, &random) } }
                    #expect(throws: Never.self) { try group.leave() }
                }
                // Threads of their own and workers of the pools: the ones block, the others help.
                if actor < 3 {
                    threads.append(try RunningThread(name: "actor", body))
                } else {
                    scheduler.globalQueue(for: QoSClass.allCases[(actor + Int(seed)) % 5]).async(body)
                }
            }
            await group.waitUntilFinished()
            for thread in threads { try thread.join() }
            while world.ended.value < world.submitted.value { await Task.yield() }
            #expect(world.ended.value == world.submitted.value, "seed \(seed)")
            #expect(world.overlaps.value == 0, "seed \(seed)")
        }
    }
}
