import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Synchronous submissions within one another", .serialized, .timeLimit(.minutes(5)))
struct NestedSyncTests {
    @Test(
        "I5 in every interleaving of a circle of submissions one is refused, also where the last one to sleep cannot give up",
        arguments: [2, 3, 4])
    func model(threads: Int) {
        let exploration = Exploration(of: NestedSyncModel(threads: threads, refusesOthers: true))
        #expect(exploration.violation == nil)
        #expect(exploration.ends > 0)
    }

    @Test("the model finds the circle that nobody leaves where only the last one to sleep may give up")
    func modelSees() {
        #expect(Exploration(of: NestedSyncModel(threads: 2, refusesOthers: false)).violation != nil)
    }

    @Test("I5 the wait that closes a circle is refused, or another one that can be, or none")
    func refusals() {
        let circle = [1, 2, 3]
        #expect(DeadlockVictim(of: circle, closedBy: 1) { _ in true } == .closing)
        #expect(DeadlockVictim(of: circle, closedBy: 1) { $0 > 1 } == .other(2))
        #expect(DeadlockVictim(of: circle, closedBy: 1) { $0 == 3 } == .other(3))
        #expect(DeadlockVictim(of: circle, closedBy: 1) { _ in false } == .nobody)
        // It joins a circle that is there already.
        #expect(DeadlockVictim(of: [1, 2, 3, 2], closedBy: 1) { $0 != 1 } == .other(2))
    }

    @Test(
        "I5 forty items that submit synchronously to two to five queues in any order, within one another: all get on, or are told",
        arguments: 1...24 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let configuration = QoSScheduler.Configuration(
            processors: seed % 3 == 0 ? 1 : 2, appliesKernelEffects: seed % 2 == 0, detectsBlocking: seed % 4 < 2)
        try await withScheduler(configuration) { scheduler in
            for _ in 0..<40 {
                let count = Int.random(in: 2...5, using: &random)
                let queues: [WorkQueue] = (0..<count).map { scheduler.makeQueue("q\($0)") }
                let (group, ended) = (WorkGroup(), Tally())
                for _ in 0..<40 {
                    let path: [Int] = (0..<Int.random(in: 2...4, using: &random)).map { _ in
                        Int.random(in: 0..<count, using: &random)
                    }
                    let work = UInt64.random(in: 0...40_000, using: &random)
                    let level = QoSLevel(QoSClass.allCases.randomElement(using: &random) ?? .default)
                    queues[path[0]].async(in: group, level: level) {
                        Self.descend(queues, path[1...], work)
                        ended.add()
                    }
                }
                await group.waitUntilFinished()
                #expect(ended.value == 40, "seed \(seed)")
                for queue in queues { try await queue.run {} }
            }
        }
    }

    /// - Parameter work: how long each closure works before it goes on, nanoseconds.
    private static func descend(_ queues: [WorkQueue], _ path: ArraySlice<Int>, _ work: UInt64) {
        let end = MonotonicClock.nanoseconds() + work
        while MonotonicClock.nanoseconds() < end {}
        guard let first = path.first else { return }
        do {
            try queues[first].sync { descend(queues, path.dropFirst(), work) }
        } catch {
            switch error as? WorkQueueError {
            case .wouldDeadlock, .deadlock: break
            default: Issue.record("\(error)")
            }
        }
    }
}
