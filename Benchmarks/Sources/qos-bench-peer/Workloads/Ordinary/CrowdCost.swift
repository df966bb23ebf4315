import BenchCore

/// Tasks that are all started and then all awaited, as children of a group or one by one; the cost of one.
struct CrowdCost: Workload {
    let children: Int
    let isGroup: Bool

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let rounds = max(1, 10_000 / children)
        return await CostMeter.measure(seconds: seconds, operations: rounds * children) {
            for _ in 0..<rounds {
                if isGroup { await runGroup() } else { await runTasks(on: stage) }
            }
        }
    }

    private func runGroup() async {
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<children { group.addTask { number } }
            await group.waitForAll()
        }
    }

    private func runTasks(on stage: Stage) async {
        let tasks = (0..<children).map { number in stage.detached { number } }
        for task in tasks { _ = await task.value }
    }
}

/// A pair of `async let`; the cost of one of them.
struct AsyncLetCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let pairs = 5000
        return await CostMeter.measure(seconds: seconds, operations: 2 * pairs) {
            for number in 0..<pairs {
                async let first = Self.answer(number)
                async let second = Self.answer(number)
                _ = await first &+ second
            }
        }
    }

    @concurrent
    private static func answer(_ number: Int) async -> Int { number }
}
