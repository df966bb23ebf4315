import BenchCore
import Synchronization

/// Tasks that yield and note when they had their turns: whether they take turns (`abcabc`), or some have two before
/// others have one.
///
/// On one thread each turn of a task follows its last one by exactly the number of tasks. On several the tasks are
/// spread unevenly, and the figures are only shown.
struct YieldTurns: Workload {
    let tasks: Int

    private static let turns = 2000

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let (clock, started) = (Counter(), Counter())
        let early = Counter()
        let longest = Counter()
        await withDiscardingTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask {
                    started.add()
                    while started.count < tasks { await Task.yield() }
                    await Task.yield()
                    var last = clock.add()
                    for _ in 1..<Self.turns {
                        await Task.yield()
                        let now = clock.add()
                        if now - last < tasks { early.add() }
                        longest.raise(to: now - last)
                        last = now
                    }
                }
            }
        }
        return RawFigures([
            "turns_out_of_order": Double(early.count), "longest_wait_in_turns": Double(longest.count),
        ])
    }
}
