import BenchCore
import QoSRuntime

/// Many tasks: each takes one lock, yields and gives the lock back; the time of all of them, by task.
struct LockCrowd: Workload {
    /// Which lock.
    enum Kind: String {
        case mutex = "async-mutex"
        case semaphore = "async-semaphore"
        /// Semaphores on a plain actor, with as many permits as the two above.
        case actorOfOne = "actor-1"
        case actorOfFour = "actor-4"
    }

    let kind: Kind
    /// The number of tasks.
    let tasks: Int

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        switch kind {
        case .mutex:
            let mutex = AsyncMutex(0)
            return await measure(seconds) {
                // Nobody cancels, so nothing is thrown.
                try? await mutex.withLock { count in
                    count &+= 1
                    await Task.yield()
                }
            }
        case .semaphore:
            let semaphore = try AsyncSemaphore(permits: 4)
            return await measure(seconds) { try? await semaphore.withPermit { await Task.yield() } }
        case .actorOfOne, .actorOfFour:
            let semaphore = ActorSemaphore(permits: kind == .actorOfOne ? 1 : 4)
            return await measure(seconds) {
                await semaphore.wait()
                await Task.yield()
                await semaphore.signal()
            }
        }
    }

    private func measure(_ seconds: Double, _ take: @escaping @Sendable () async -> Void) async -> RawFigures {
        await CostMeter.measure(seconds: seconds, operations: tasks) {
            await withDiscardingTaskGroup { group in
                for _ in 0..<tasks { group.addTask { await take() } }
            }
        }
    }
}

/// The least that an asynchronous semaphore costs: permits and a queue of continuations on a plain actor.
private actor ActorSemaphore {
    private var permits: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var first = 0

    init(permits: Int) {
        self.permits = permits
    }

    func wait() async {
        if permits > 0 {
            permits -= 1
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    func signal() {
        guard first < waiters.count else {
            permits += 1
            return
        }
        let waiter = waiters[first]
        first += 1
        if first == waiters.count {
            waiters.removeAll(keepingCapacity: true)
            first = 0
        }
        waiter.resume()
    }
}
