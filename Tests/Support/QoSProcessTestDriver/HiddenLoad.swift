import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import QoSTesting

/// Tasks of a high record that wait at the background for one another, on a scheduler of their own.
struct HiddenLoad: Sendable {
    enum Way: CaseIterable { case mutex, semaphore, closure, item, child }

    private static let total = 1_500

    private let scheduler: QoSScheduler
    private let mutex = AsyncMutex(())
    private let semaphore: AsyncSemaphore
    private let queue: WorkQueue
    private let ended = Tally()
    private let halfway = Gate()
    private let isOver = Gate()

    init() throws {
        scheduler = try QoSScheduler(
            configuration: DeniedCalls.applied(
                to: .init(processors: 2, appliesKernelEffects: false, detectsBlocking: false)))
        semaphore = try AsyncSemaphore(permits: 2)
        queue = scheduler.makeQueue("line")
    }

    /// Starts the tasks, and cancels, raises and awaits some of them, while another task looks at the waits.
    ///
    /// The scheduler is shut down at the end, or halfway for an even seed.
    func run(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let looker = Task.detached(priority: .userInitiated) {
            while !isOver.isOpen {
                HiddenWaits.look()
                await Task.yield()
            }
        }
        let shutdown = Task.detached {
            await halfway.passed()
            return try await scheduler.shutdown(within: .seconds(600))
        }
        var (tasks, waiters): ([Task<Void, Never>], [Task<Void, Never>]) = ([], [])
        for index in 0..<Self.total {
            if seed % 2 == 0, index == Self.total / 2 { halfway.open() }
            tasks.append(start(&random))
            let victim = tasks[Int.random(in: max(0, index - 64)...index, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: victim.cancel()
            case 1: scheduler.raise(victim, to: .userInitiated)
            case 2:
                let high = scheduler.executor(for: .userInitiated)
                waiters.append(
                    Task.detached(executorPreference: high, priority: .userInitiated) { await victim.value })
            default: break
            }
        }
        for task in tasks + waiters { await task.value }
        halfway.open()
        Driver.say("clean", try await shutdown.value.isClean)
        isOver.open()
        await looker.value
        Driver.say("ended", ended.value)
    }

    private func start(_ random: inout SeededGenerator) -> Task<Void, Never> {
        let way = Way.allCases[Int.random(in: 0..<Way.allCases.count, using: &random)]
        let origin = Origin.allCases[Int.random(in: 0..<Origin.allCases.count, using: &random)]
        return origin.start(on: scheduler) {
            await wait(way)
            ended.add()
        }
    }

    private func wait(_ way: Way) async {
        switch way {
        case .mutex: try? await mutex.withLock { _ in await Task.yield() }
        case .semaphore: try? await semaphore.withPermit { await Task.yield() }
        case .closure: try? await queue.run(level: .background) {}
        case .item: try? await queue.run(WorkItem(level: .background) {})
        case .child: await RunningChild.ofGroup.run {}
        }
    }
}
