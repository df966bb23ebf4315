import QoSCore
import QoSEventLoop
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A task that waits in a queue", .serialized, .timeLimit(.minutes(3)))
struct WaitingStateTests {
    private static let oneWorker = QoSScheduler.Configuration(
        processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)

    @Test(
        "I4 a task that waits is promoted in every state when something higher needs it, by preference",
        .needsKnownLayout,
        arguments: WaitingState.allCases, Urgency.allCases)
    func byPreference(_ state: WaitingState, _ urgency: Urgency) async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let name = await state.threadOfPromoted(urgency, on: scheduler, isProcessWide: false)
            #expect(name.hasPrefix("qos-in-"), "\(state), \(urgency): \(name)")
        }
    }

    @Test(
        "I4 a task that waits is promoted in every state when something higher needs it, process-wide",
        .needsKnownLayout)
    func processWide() async throws {
        let ending = try await DriverProcess("waiting-states").ending()
        #expect(ending.status == 0, "\(ending)")
        for state in WaitingState.allCases {
            for urgency in Urgency.allCases {
                let name = ending.findings["\(state).\(urgency)"] ?? "nothing"
                #expect(name.hasPrefix("qos-in-"), "\(state), \(urgency): \(name)")
            }
        }
    }

    @Test(
        "I4 what a raised task waits for is moved at once, while the loop is busy with something else",
        .needsKnownLayout, arguments: AwaitedChild.allCases)
    func childWithoutLoop(_ child: AwaitedChild) async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let (busy, release, ended) = (Gate(), Gate(), Gate())
            let names = Collected<String>()
            let victim = Task(executorPreference: scheduler.executor(for: .background), priority: .background) {
                Task.detached(executorPreference: scheduler.executor(for: .background), priority: .background) {
                    busy.open()
                    release.blockThread()
                }
                await child.run { names.append(CurrentThread.name) }
                ended.open()
            }
            await busy.passed()
            let goOn = try await stopLoop(of: scheduler)
            scheduler.raise(victim, to: .userInitiated)
            let moved = scheduler.snapshot.tasksMoved
            goOn.open()
            await ended.passed()
            #expect(moved == 1)
            #expect(names.all.count == 1 && names.all.allSatisfy { $0.hasPrefix("qos-in-") }, "\(names.all)")
            release.open()
            await victim.value
        }
    }

    /// Keeps the loop's thread until the returned gate is opened.
    private func stopLoop(of scheduler: QoSScheduler) async throws -> Gate {
        let (stopped, goOn) = (Gate(), Gate())
        try scheduler.core.loop.submit {
            stopped.open()
            goOn.blockThread()
        }
        await stopped.passed()
        return goOn
    }

    /// A child whose parent waits for it. It comes with a second one, since the last child may begin before all other
    /// work of its worker.
    enum AwaitedChild: CaseIterable {
        case ofGroup, asyncLet

        func run(_ body: @escaping @Sendable () -> Void) async {
            switch self {
            case .ofGroup:
                await withTaskGroup { group in
                    group.addTask { body() }
                    group.addTask {}
                }
            case .asyncLet:
                async let first: Void = body()
                async let second: Void = ()
                _ = await (first, second)
            }
        }
    }

    @Test(
        "I4 a yielded task that is raised is moved at once, while the loop is busy with something else",
        .needsKnownLayout)
    func yieldedWithoutLoop() async throws {
        // One that came when all numbers were taken leaves the raise to the loop.
        while try await !raisesYieldedWithoutLoop() { await Task.yield() }
    }

    /// - Returns: `false` where the scheduler has no number, and nothing was tried.
    private func raisesYieldedWithoutLoop() async throws -> Bool {
        try await withScheduler(Self.oneWorker) { scheduler in
            guard scheduler.core.group.number != 0 else { return false }
            let (busy, release, ended) = (Gate(), Gate(), Gate())
            let names = Collected<String>()
            await Task(executorPreference: scheduler.executor(for: .userInitiated)) {}.value
            let victim = Task(executorPreference: scheduler.executor(for: .background), priority: .background) {
                Task.detached(executorPreference: scheduler.executor(for: .background), priority: .background) {
                    busy.open()
                    release.blockThread()
                }
                await Task.yield()
                names.append(CurrentThread.name)
                ended.open()
            }
            await busy.passed()
            let goOn = try await stopLoop(of: scheduler)
            scheduler.raise(victim, to: .userInitiated)
            await ended.passed()
            #expect(names.all.count == 1 && names.all.allSatisfy { $0.hasPrefix("qos-in-") }, "\(names.all)")
            goOn.open()
            release.open()
            await victim.value
            return true
        }
    }
}
