import BenchCore

/// A task group that adds a child and takes a result in turns, with 64 children under way; the cost of one child.
struct GroupCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let (children, window) = (20_000, 64)
        return await CostMeter.measure(seconds: seconds, operations: children) {
            await withTaskGroup(of: Int.self) { group in
                for number in 0..<window { group.addTask { number } }
                for number in window..<children {
                    _ = await group.next()
                    group.addTask { number }
                }
                await group.waitForAll()
            }
        }
    }
}
