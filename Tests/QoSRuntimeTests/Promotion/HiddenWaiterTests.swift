import QoSCore
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// Who counts as a waiter of a task whose record is high from the start, and where the task goes when it is resumed.
@Suite("The waiters of a task whose record shows no raise", .timeLimit(.minutes(5)))
struct HiddenWaiterTests {
    private static let oneWorker = QoSScheduler.Configuration(
        processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)

    @Test("I4 a waiter that runs on the default executor counts at its priority", .needsKnownLayout)
    func onDefaultExecutor() async throws {
        let held = HeldJob()
        let awaited = Task.detached(executorPreference: held) {}
        let task = TaskAddress(rawValue: JobNode(try #require(held.job)).address)
        let waiter = Task.detached(priority: .userInitiated) {
            // Dispatch leaves its mark in the task's words when the task is queued again.
            await Task.yield()
            await awaited.value
        }
        await isNeeded(task, atLeast: .background)
        #expect(ConcurrencyRuntime.classNeeding(task: task) == .userInitiated)
        held.run()
        await waiter.value
    }

    @Test("I4 a raise that shows in the record of a waiter is passed on", .needsKnownLayout)
    func raisedWaiter() async throws {
        try await withScheduler { scheduler in
            let held = HeldJob()
            let awaited = Task.detached(executorPreference: held) {}
            let task = TaskAddress(rawValue: JobNode(try #require(held.job)).address)
            let waiter = Task.detached(executorPreference: scheduler.executor(for: .background), priority: .background)
            {
                await awaited.value
            }
            await isNeeded(task, atLeast: .background)
            #expect(ConcurrencyRuntime.classNeeding(task: task) == .background)
            scheduler.raise(waiter, to: .userInitiated)
            #expect(ConcurrencyRuntime.classNeeding(task: task) == .userInitiated)
            held.run()
            await waiter.value
        }
    }

    @Test("I4 a task that something higher awaits is resumed in the higher pool, without a look", .needsKnownLayout)
    func resumed() async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let (begun, goesOn, busy, release) = (Gate(), Gate(), Gate(), Gate())
            let low = scheduler.executor(for: .background)
            let subject = Task.detached(executorPreference: low, priority: .userInitiated) {
                begun.open()
                await goesOn.passed()
                return CurrentThread.qosClass
            }
            await begun.passed()
            let waiter = Task.detached(
                executorPreference: scheduler.executor(for: .userInitiated), priority: .userInitiated
            ) { await subject.value }
            await isNeeded(TaskAddress(rawValue: ConcurrencyRuntime.node(of: subject).address), atLeast: .userInitiated)
            let other = Task.detached(executorPreference: low, priority: .background) {
                busy.open()
                release.blockThread()
            }
            await busy.passed()
            let moved = scheduler.snapshot.tasksMoved
            goesOn.open()
            #expect(await waiter.value == .userInitiated)
            #expect(scheduler.snapshot.tasksMoved == moved)
            release.open()
            await other.value
        }
    }

    @Test("I4 a raise by the program outlasts one for a lock, and each ends by itself")
    func causes() {
        // The address of no task.
        let task = TaskAddress(rawValue: 0x7FFF_FFFF_F000)
        #expect(RaisedTasks.raise(task, to: .utility, for: .program))
        #expect(RaisedTasks.raise(task, to: .userInteractive, for: .lock))
        #expect(!RaisedTasks.raise(task, to: .background, for: .program))
        #expect(RaisedTasks.qosClass(of: task) == .userInteractive)
        RaisedTasks.end(.lock, of: task)
        #expect(RaisedTasks.qosClass(of: task) == .utility)
        #expect(RaisedTasks.raise(task, to: .userInitiated, for: .program))
        RaisedTasks.end(.lock, of: task)
        #expect(RaisedTasks.qosClass(of: task) == .userInitiated)
        RaisedTasks.end(.program, of: task)
        #expect(RaisedTasks.qosClass(of: task) == nil)
    }

    /// Returns once a task is needed at a class.
    private func isNeeded(_ task: TaskAddress, atLeast qosClass: QoSClass) async {
        while true {
            if let needed = ConcurrencyRuntime.classNeeding(task: task), needed >= qosClass { return }
            await Task.yield()
        }
    }
}
