import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A task that yields", .timeLimit(.minutes(5)))
struct YieldTests {
    private static let oneWorker = QoSScheduler.Configuration(
        processors: 1, appliesKernelEffects: false, detectsBlocking: false)

    @Test("takes turns with the others of its worker: abcabc, never aabbcc", .needsKnownLayout, arguments: [3, 8, 40])
    func turns(count: Int) async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let notes = Collected<Int>()
            let (busy, release) = (Gate(), Gate())
            let hog = Task(executorPreference: scheduler.executor(for: .utility)) {
                busy.open()
                release.blockThread()
            }
            await busy.passed()
            let tasks = (0..<count).map { number in
                Task(executorPreference: scheduler.executor(for: .utility)) {
                    for _ in 0..<5 {
                        notes.append(number)
                        await Task.yield()
                    }
                }
            }
            release.open()
            for task in tasks { await task.escaped }
            await hog.value
            #expect(notes.all == Array(repeating: Array(0..<count), count: 5).flatMap(\.self))
        }
    }

    @Test(
        "delays a job from outside by one turn, however long it yields, also where others yield with it",
        .needsKnownLayout, arguments: [1, 2, 20])
    func jobFromOutside(count: Int) async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let (asked, submitted, ran) = (Gate(), Gate(), Gate())
            let (turns, seen) = (Tally(), Collected<Int>())
            let first = turnsBeforeAsking(count)
            let tasks = (0..<count).map { _ in
                Task(executorPreference: scheduler.executor(for: .utility)) {
                    while !ran.isOpen {
                        // The thread outside submits its job during this turn.
                        if turns.add() == first {
                            asked.open()
                            submitted.blockThread()
                        }
                        await Task.yield()
                    }
                }
            }
            let outside = try RunningThread(name: "outside") {
                asked.blockThread()
                scheduler.globalQueue(for: .utility).async {
                    seen.append(turns.value)
                    ran.open()
                }
                submitted.open()
            }
            await ran.passed()
            for task in tasks { await task.value }
            try outside.join()
            // Each of the others may stand before the job once. The task whose turn it was goes behind it or before it.
            #expect((seen.all.first ?? .max) - first <= count)
        }
    }

    /// The turn in which the job comes: late enough that all tasks take turns.
    private func turnsBeforeAsking(_ count: Int) -> Int { 10 * count }
}
