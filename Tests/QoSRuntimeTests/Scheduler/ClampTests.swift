import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A clamped scheduler", .timeLimit(.minutes(5)))
struct ClampTests {
    private actor Place {
        private let executor: QoSSerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(_ executor: QoSSerialExecutor) {
            self.executor = executor
        }

        func ranAt() -> QoSClass? { CurrentThread.qosClass }
    }

    /// Submits a task, an item of a serial queue and a call of an actor at a class.
    private static func submit(at qosClass: QoSClass, _ scheduler: QoSScheduler) -> [Task<QoSClass?, Never>] {
        let place = Place(scheduler.makeSerialExecutor())
        let (queue, ranAt, hasRun) = (scheduler.makeQueue("q"), Collected<QoSClass?>(), Gate())
        queue.async(level: QoSLevel(qosClass)) {
            ranAt.append(CurrentThread.qosClass)
            hasRun.open()
        }
        return [
            Task.detached(executorPreference: scheduler.executor(for: qosClass)) { CurrentThread.qosClass },
            Task.detached {
                await hasRun.passed()
                return ranAt.all.first ?? nil
            },
            Task.detached(priority: qosClass.taskPriority) { await place.ranAt() },
        ]
    }

    @Test(
        "M3 the workers of background do the work of every class, until the clamp is over", arguments: QoSClass.allCases
    )
    func everyClass(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let clamp = SchedulerClamp(scheduler)
            #expect(!clamp.set(true) && clamp.isOn)
            for task in Self.submit(at: qosClass, scheduler) {
                let ranAt = await task.escaped
                #expect(ranAt == .background)
            }
            #expect(clamp.set(false) && !clamp.isOn)
            clamp.workReturns()
            for task in Self.submit(at: qosClass, scheduler) {
                let ranAt = await task.escaped
                #expect(ranAt == qosClass)
            }
        }
    }

    @Test("M3 when the clamp is over, waiting work goes to its classes, though background's worker is busy")
    func returns() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            let (isBusy, release) = (Gate(), Gate())
            let hog = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                isBusy.open()
                release.blockThread()
            }
            await isBusy.passed()
            let tasks = Self.submit(at: .utility, scheduler)
            #expect(clamp.set(false))
            clamp.workReturns()
            // The call of the actor may come only now, and needs no return.
            for task in tasks {
                let ranAt = await task.escaped
                #expect(ranAt == .utility)
            }
            release.open()
            await hog.escaped
        }
    }

    @Test("M3 all parties that have a say have to agree")
    func parties() async throws {
        try await withScheduler { scheduler in
            let (one, other) = (SchedulerClamp(scheduler), SchedulerClamp(scheduler))
            #expect(!one.set(true) && one.isOn)
            #expect(other.set(false) && !one.isOn)
            #expect(!other.set(true) && one.isOn)
            #expect(!one.set(nil) && one.isOn)
            #expect(other.set(nil) && !one.isOn)
            #expect(!other.set(nil))
            var passing: SchedulerClamp? = SchedulerClamp(scheduler)
            _ = passing?.set(true)
            #expect(one.isOn)
            passing = nil
            #expect(!one.isOn)
        }
    }

    @Test("M3 a shutdown lifts the clamp, and there is none afterwards")
    func shutdown() async throws {
        let steps = Collected<Int>()
        let clamp = try await withScheduler { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                for step in 0..<100 {
                    steps.append(step)
                    await Task.yield()
                }
            }
            return clamp
        }
        #expect(steps.all.count == 100 && !clamp.isOn)
        _ = clamp.set(false)
        _ = clamp.set(true)
        #expect(!clamp.isOn)
    }
}
