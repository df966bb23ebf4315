import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("What a job is", .timeLimit(.minutes(5)))
struct JobKindTests {
    /// Notes of each job whether it can be kept alive, and runs it at once.
    private final class Noting: TaskExecutor {
        let notes = Collected<Bool>()

        func enqueue(_ job: UnownedJob) {
            notes.append(ConcurrencyRuntime.isRetainableTask(job))
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Which jobs those are is learned when the first scheduler is made.
    init() { #expect(ConcurrencyRuntime.hasExpectedLayout) }

    @Test("a task and the child of a group can be kept alive by retaining them", .needsKnownLayout)
    func retainable() async {
        let executor = Noting()
        await Task(executorPreference: executor) {}.value
        await withTaskGroup { group in group.addTask(executorPreference: executor) {} }
        #expect(executor.notes.all == [true, true])
    }

    @Test("the child of an async let cannot: its parent takes its memory back", .needsKnownLayout)
    func asyncLet() async {
        let executor = Noting()
        let sum = await withTaskExecutorPreference(executor) {
            async let first = 1
            async let second = 2
            return await first + second
        }
        #expect(sum == 3)
        #expect(executor.notes.all.filter { !$0 }.count == 2, "\(executor.notes.all)")
    }

    @Test("a task that has ended, also by an error, is told from one that waits", .needsKnownLayout)
    func ended() async {
        let gate = Gate()
        let (ended, failed) = (Task {}, Task<Void, any Error> { throw CancellationError() })
        let waiting = Task { await gate.passed() }
        await ended.value
        _ = await failed.result
        func hasEnded<Success, Failure: Error>(_ task: Task<Success, Failure>) -> Bool {
            withExtendedLifetime(task) { ConcurrencyRuntime.hasEnded(ConcurrencyRuntime.node(of: task).job) }
        }
        #expect(hasEnded(ended) && hasEnded(failed))
        #expect(!hasEnded(waiting))
        gate.open()
        await waiting.value
        #expect(hasEnded(waiting))
    }

    @Test("the place of a task's address in a job is where two jobs have their own; a word of earlier use is none")
    func places() {
        let tasks: [UInt] = [0x10, 0x20]
        #expect(ConcurrencyRuntime.lastPlace(of: tasks, in: [[0x10, 7], [0x20, 9]]) == 0)
        // The first job's memory has its task's address once more, behind the job.
        #expect(ConcurrencyRuntime.lastPlace(of: tasks, in: [[0x10, 7, 0x10], [0x20, 9, 0]]) == 0)
        #expect(ConcurrencyRuntime.lastPlace(of: tasks, in: [[0x10, 0x10], [0x20, 0x20]]) == 1)
        #expect(ConcurrencyRuntime.lastPlace(of: tasks, in: [[0x10, 7], [7, 0x20]]) == nil)
        #expect(ConcurrencyRuntime.lastPlace(of: tasks, in: [[0x10], []]) == nil)
    }
}
