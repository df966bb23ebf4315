import QoSCore
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("C4 order by priority inside of a class", .timeLimit(.minutes(5)))
struct PrecedenceTests {
    /// The order in which one worker runs tasks of these priorities, which are submitted while it is busy.
    private func order(
        _ priorities: [UInt8], of qosClass: QoSClass, on executor: (QoSScheduler) -> any TaskExecutor
    ) async throws -> [UInt8] {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        return try await withScheduler(configuration) { scheduler in
            let (begun, release, done) = (Gate(), Gate(), Gate())
            let ran = Collected<UInt8>()
            let held = Task.detached(executorPreference: scheduler.executor(for: qosClass)) {
                begun.open()
                release.blockThread()
            }
            await begun.passed()
            for priority in priorities {
                Task.detached(executorPreference: executor(scheduler), priority: TaskPriority(rawValue: priority)) {
                    ran.append(priority)
                    if ran.all.count == priorities.count { done.open() }
                }
            }
            release.open()
            await held.escaped
            await done.passed()
            return ran.all
        }
    }

    @Test("I4 a look with a limit goes on where the last one ended, through all positions")
    func looks() {
        let nodes = MadeNodes(count: 300)
        var ordered = OrderedNodes()
        for index in 0..<300 {
            nodes[index].prepare(.job(executor: 3).lowered(by: 1 + index % 3))
            ordered.append(nodes[index])
        }
        var taken: [Int] = []
        for _ in 0..<3 {
            let found = ordered.extract(limit: 100) { nodes.number(of: $0) >= 297 }
            taken += nodes.numbers(in: found)
        }
        #expect(taken == [297, 298, 299])
        #expect(ordered.count == 297)
    }

    @Test(
        "C4 the higher goes first, equal ones in the order of their arrival",
        arguments: [
            (QoSClass.utility, [17, 19, 18, 17, 20, 19]), (.default, [21, 23, 21, 22]), (.background, [9, 10, 16, 12]),
            (.userInitiated, [25, 32, 26, 25]), (.userInteractive, [33, 40, 34, 60]),
        ] as [(QoSClass, [UInt8])])
    func highestFirst(_ qosClass: QoSClass, _ priorities: [UInt8]) async throws {
        let ran = try await order(priorities, of: qosClass) { $0.executor }
        // Not told apart from 7 above the class's own on.
        let base = priorities.min() ?? 0
        let expected = priorities.enumerated().sorted { left, right in
            let (first, second) = (min(left.element - base, 7), min(right.element - base, 7))
            return first == second ? left.offset < right.offset : first > second
        }
        #expect(ran == expected.map(\.element))
    }

    @Test("C4 on the executor of a class, a priority of another class orders nothing")
    func otherClass() async throws {
        let ran = try await order([17, 27, 9, 19, 17], of: .utility) { $0.executor(for: .utility) }
        #expect(ran == [19, 17, 27, 9, 17])
    }

    @Test("C4 a task that goes before the others and yields for ever does not starve them")
    func fairness() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let isOver = Gate()
            let greedy = Task.detached(executorPreference: scheduler.executor, priority: TaskPriority(rawValue: 19)) {
                while !isOver.isOpen { await Task.yield() }
            }
            for _ in 0..<100 {
                await Task.detached(executorPreference: scheduler.executor, priority: .utility) { await Task.yield() }
                    .escaped
            }
            isOver.open()
            await greedy.escaped
        }
    }

    @Test("C4 one node in sixteen is left to those without precedence")
    func sixteenth() {
        let nodes = MadeNodes(count: 64)
        var queue = LocalQueue()
        for index in 0..<64 {
            nodes[index].prepare(.job(executor: 0, precedence: index < 48 ? 1 : 0))
            queue.pushLast(nodes[index])
        }
        let order = (0..<64).compactMap { _ in queue.pop().map { nodes.number(of: $0) } }
        #expect(order.count == 64)
        let others = order.indices.filter { order[$0] >= 48 }
        #expect(others.prefix(3) == [15, 31, 47])
        #expect(order.filter { $0 < 48 } == Array(0..<48))
        #expect(queue.count == 0)
    }

    @Test(
        "C4 against a list that is searched: pushes, pops, thieves, removals and looks",
        arguments: 1...20 as ClosedRange<UInt64>)
    func model(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let nodes = MadeNodes(count: 400)
        var preceding = OrderedNodes()
        var model: [(node: JobNode, precedence: Int)] = []
        var (turns, latestBehind) = (0, 7)
        for index in 0..<400 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let precedence = Int.random(in: 1...22, using: &random) - 15
                guard precedence != 0 else { continue }
                let tag = JobNode.Tag.job(executor: 3, precedence: max(precedence, 0))
                nodes[index].prepare(tag.lowered(by: max(-precedence, 0)))
                preceding.append(nodes[index])
                model.append((nodes[index], precedence))
            case 4:
                var highest = model.map(\.precedence).max()
                let others = model.map(\.precedence).filter { $0 != highest }
                turns = others.isEmpty ? 0 : turns + 1
                if turns == OrderedNodes.fairness {
                    turns = 0
                    highest = others.filter { $0 < latestBehind }.max() ?? others.max()
                    latestBehind = highest ?? latestBehind
                }
                let first = model.firstIndex { $0.precedence == highest }
                let popped = preceding.pop(othersWait: false)
                #expect(popped == first.map { model.remove(at: $0).node }, "seed \(seed)")
            case 5 where !model.isEmpty:
                let victim = Int.random(in: 0..<model.count, using: &random)
                preceding.remove(model.remove(at: victim).node)
            case 6:
                let (limit, behind) = (Int.random(in: 1...5, using: &random), Bool.random(using: &random))
                let highest = model.map(\.precedence).filter { ($0 < 0) == behind }.max()
                let of = model.filter { $0.precedence == highest }
                let expected = of.prefix(min((of.count + 1) / 2, limit)).map(\.node)
                var taken = preceding.steal(limit, behind: behind)
                var seen: [JobNode] = []
                while let node = taken.popFirst() { seen.append(node) }
                #expect(seen == expected, "seed \(seed)")
                model.removeAll { seen.contains($0.node) }
            default:
                let picked = Set(model.filter { _ in Bool.random(using: &random) }.map(\.node.address))
                let limit = Int.random(in: 0...20, using: &random)
                var taken = preceding.extract(limit: limit) { picked.contains($0.address) }
                #expect(taken.count <= limit, "seed \(seed)")
                // From where the first call ended to the end of all, then once more from the front.
                for _ in 0..<2 {
                    taken.append(contentsOf: preceding.extract(limit: .max) { picked.contains($0.address) })
                }
                var seen = Set<UInt>()
                while let node = taken.popFirst() { seen.insert(node.address) }
                #expect(seen == picked, "seed \(seed)")
                model.removeAll { picked.contains($0.node.address) }
            }
            #expect(preceding.count == model.count, "seed \(seed)")
            #expect(preceding.isEmpty == model.isEmpty, "seed \(seed)")
        }
        var all = preceding.takeAll()
        all.append(contentsOf: preceding.takeAll(behind: true))
        #expect(all.count == model.count)
        var last = 7
        while let node = all.popFirst() {
            let precedence = node.tag.order < 16 ? node.tag.order : 16 - node.tag.order
            #expect(precedence <= last)
            last = precedence
        }
        #expect(preceding.isEmpty)
        #expect(preceding.count == 0)
    }
}
