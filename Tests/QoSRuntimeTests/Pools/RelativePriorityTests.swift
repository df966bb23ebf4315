import QoSCore
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Relative priority inside of a class", .timeLimit(.minutes(10)))
struct RelativePriorityTests {
    private static let lowerings = [3, 0, 15, 1, 3, 7, 0, 2, 15, 1]

    /// The order of the nodes: the smaller lowering first, equal ones as they came.
    private static let expected = lowerings.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        .map(\.offset)

    private func level(_ lowering: Int) -> QoSLevel {
        QoSLevel(.utility, relativePriority: RelativePriority(clamping: -lowering))
    }

    /// Lets one worker come to what is submitted while it is busy.
    ///
    /// - Returns: in which order that ran.
    private func order(
        _ submit: (QoSScheduler, Int, QoSLevel, @escaping @Sendable () -> Void) throws -> Void,
        meanwhile: () async throws -> Void = {}
    ) async throws -> [Int] {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        return try await withScheduler(configuration) { scheduler in
            let (begun, release, done, ran) = (Gate(), Gate(), Gate(), Collected<Int>())
            let held = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                begun.open()
                release.blockThread()
            }
            await begun.passed()
            for (number, lowering) in Self.lowerings.enumerated() {
                try submit(scheduler, number, level(lowering)) {
                    ran.append(number)
                    if ran.all.count == Self.lowerings.count { done.open() }
                }
            }
            try await meanwhile()
            release.open()
            await held.escaped
            await done.passed()
            return ran.all
        }
    }

    @Test(
        "B1 B5 items of a concurrent queue wait in a pool by relative priority, equal ones in the order of submission")
    func items() async throws {
        let queue = Collected<WorkQueue>()
        let ran = try await order { scheduler, _, level, body in
            if queue.all.isEmpty { queue.append(scheduler.makeQueue("queue", .concurrent)) }
            queue.all[0].async(level: level, body)
        }
        #expect(ran == Self.expected)
    }

    @Test("B1 so do queues, by their levels, serial and concurrent ones")
    func queues() async throws {
        let ran = try await order { scheduler, number, level, body in
            scheduler.makeQueue("queue", number % 2 == 0 ? .serial : .concurrent, level: level).async(body)
        }
        #expect(ran == Self.expected)
    }

    @Test("B1 so do tasks that prefer the executor of a level")
    func tasks() async throws {
        let ran = try await order { scheduler, _, level, body in
            Task.detached(executorPreference: scheduler.executor(for: level), operation: body)
        }
        #expect(ran == Self.expected)
    }

    @Test("I1 B13 an item that is waited for goes before those of a lower relative priority of its class")
    func raised() async throws {
        let items = Collected<WorkItem>()
        let ran = try await order { scheduler, number, level, body in
            let item = WorkItem(level: level, body)
            try scheduler.makeQueue("queue", .concurrent).async(item)
            items.append(item)
        } meanwhile: {
            let item = items.all[8]
            Task.detached(priority: .utility) { await item.waitUntilFinished() }
            while item.effectiveLevel != .utility { await Task.yield() }
        }
        // The last of those without a relative priority: it comes to its place by the raise.
        #expect(ran == [1, 6, 8] + Self.expected.filter { ![1, 6, 8].contains($0) })
    }

    @Test("C7 a task that yields for ever keeps none of a lower relative priority from running", arguments: [0, 1, 14])
    func starvesNobody(_ lowering: Int) async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let (isOver, begun) = (Gate(), Gate())
            let greedy = Task.detached(executorPreference: scheduler.executor(for: level(lowering))) {
                while !isOver.isOpen {
                    begun.open()
                    await Task.yield()
                }
            }
            await begun.passed()
            for lower in [lowering + 1, 15] {
                await Task.detached(executorPreference: scheduler.executor(for: level(lower))) { await Task.yield() }
                    .escaped
            }
            isOver.open()
            await greedy.escaped
        }
    }

    @Test("B1 one node in sixteen is left to those behind, to each order in turn, and a thief takes them last")
    func sixteenth() {
        let nodes = MadeNodes(count: 64)
        var queue = LocalQueue()
        for index in 0..<64 {
            nodes[index].prepare(.job(executor: 0).lowered(by: index < 48 ? 0 : 64 - index > 8 ? 1 : 2))
            queue.pushLast(nodes[index])
        }
        let order = (0..<64).compactMap { _ in queue.pop().map { nodes.number(of: $0) } }
        #expect(order.indices.filter { order[$0] >= 48 }.prefix(3) == [15, 31, 47])
        #expect(order.filter { $0 >= 48 } == [48, 56] + Array(49..<56) + Array(57..<64))
        #expect(order.filter { $0 < 48 } == Array(0..<48))
        for index in 0..<3 {
            nodes[index].prepare(.entry.lowered(by: index))
            queue.pushLast(nodes[index])
        }
        for index in 0..<3 { #expect(nodes.numbers(in: queue.steal(includingSlot: true)) == [index]) }
        #expect(queue.count == 0)
    }

    @Test("I4 what goes into a pool of a higher class leaves its relative priority behind")
    func changesClass() {
        let nodes = MadeNodes(count: 1)
        nodes[0].prepare(.job(executor: 30).lowered(by: 15))
        #expect(nodes[0].tag.order == 31 && nodes[0].tag.executor == 30 && nodes[0].tag.isJob)
        nodes[0].changesClass()
        #expect(nodes[0].tag == .job(executor: 30))
        nodes[0].prepare(.job(executor: 3, precedence: 7))
        nodes[0].changesClass()
        #expect(nodes[0].tag == .job(executor: 3, precedence: 7))
        nodes[0].prepare(.entry.lowered(by: 4))
        #expect(!nodes[0].tag.isJob && !nodes[0].tag.isLane && nodes[0].tag.hasOrder)
    }

    @Test("B1 each level has an executor of its own, which stands in its place of the table")
    func table() throws {
        let core = try SchedulerCore(
            settings: QoSScheduler.Configuration(processors: 1, appliesKernelEffects: false).settings())
        defer { core.requestShutdown(within: .zero, nil) }
        let all = PoolExecutor.all(of: core)
        #expect(all.map(\.index) == Array(0..<ExecutorIndex.count))
        #expect(ExecutorIndex.count <= 256)
        for qosClass in QoSClass.allCases {
            for lowering in 0...15 {
                let level = QoSLevel(qosClass, relativePriority: RelativePriority(clamping: -lowering))
                #expect(all[ExecutorIndex.index(of: level)].qosClass == qosClass)
                #expect(LevelCode(level).lowering == lowering)
                #expect(LevelCode(level).poolOrder == qosClass.rank * 16 + 15 - lowering)
            }
        }
        #expect(LevelCode.none.poolOrder == LevelCode(.default).poolOrder)
    }
}
