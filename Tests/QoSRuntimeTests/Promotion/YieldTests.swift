import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A task that yields", .timeLimit(.minutes(2)))
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
            for task in tasks { await task.value }
            await hog.value
            #expect(notes.all == Array(repeating: Array(0..<count), count: 5).flatMap(\.self))
        }
    }
}
