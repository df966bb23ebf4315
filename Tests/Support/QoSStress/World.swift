import QoSCore
import QoSKernel
import QoSOperations
import QoSRuntime
import QoSTesting
import Synchronization

/// The objects that a round's players share.
final class World: Sendable {
    let ledger: Ledger
    let assistant: Assistant
    let moves: [Move]
    let schedulers: [QoSScheduler]
    let queues: [WorkQueue]
    let operationQueues: [QoSOperationQueue]
    let asyncMutexes: [AsyncMutex<Int>]
    let semaphores: [AsyncSemaphore]
    let mutexes: [SharedMutex]
    let actors: [PlainActor]
    let serialActors: [SerialActor]

    /// The latest tasks, for cancellations and raises.
    private let tasks = Lock<[Task<Void, Never>]>([])

    init(
        _ schedulers: [QoSScheduler], moves: [Move], ledger: Ledger, assistant: Assistant,
        random: inout SeededGenerator
    ) throws {
        (self.schedulers, self.moves, self.ledger, self.assistant) = (schedulers, moves, ledger, assistant)
        queues = try schedulers.flatMap { scheduler in try Self.queues(of: scheduler, &random) }
        operationQueues = try schedulers.map { scheduler in
            QoSOperationQueue(
                "operations", scheduler: scheduler, maxConcurrent: try .atMost(Int.random(in: 1...4, using: &random)))
        }
        asyncMutexes = (0..<3).map { AsyncMutex(0, name: "async-\($0)") }
        semaphores = try (0..<2).map { _ in try AsyncSemaphore(permits: Int.random(in: 1...4, using: &random)) }
        mutexes = (0..<3).map { SharedMutex("mutex-\($0)") }
        actors = (0..<2).map { _ in PlainActor() }
        serialActors = schedulers.map { SerialActor($0) }
    }

    private static func queues(of scheduler: QoSScheduler, _ random: inout SeededGenerator) throws -> [WorkQueue] {
        let levels: [QoSLevel?] = [nil, .background, .utility, .userInitiated]
        let plain = (0..<5).map { number in
            scheduler.makeQueue(
                "queue-\(number)", number.isMultiple(of: 2) ? .serial : .concurrent,
                level: levels.randomElement(using: &random) ?? nil)
        }
        return plain + [try scheduler.makeQueue("targeting", .concurrent, target: plain[0])]
    }

    /// Keeps a task for others to cancel and raise.
    func remember(_ task: Task<Void, Never>) {
        tasks.withLock { tasks in
            tasks.append(task)
            if tasks.count > 32 { tasks.removeFirst() }
        }
    }

    /// One of the latest tasks.
    func anyTask(_ random: inout SeededGenerator) -> Task<Void, Never>? {
        let number = Int.random(in: 0..<32, using: &random)
        return tasks.withLock { $0.indices.contains(number) ? $0[number] : $0.last }
    }

    /// Forgets the tasks.
    func forgetTasks() {
        tasks.withLock { $0 = [] }
    }
}

/// A mutex that several places share.
final class SharedMutex: Sendable {
    let mutex: QoSMutex<Int>

    init(_ name: String) {
        mutex = QoSMutex(0, name: name)
    }
}

/// An actor with the executor that actors have.
actor PlainActor {
    private var count = 0

    func add(yields: Bool) async {
        count += 1
        if yields { await Task.yield() }
    }
}

/// An actor on a serial executor of a scheduler.
actor SerialActor {
    private let executor: QoSSerialExecutor
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ scheduler: QoSScheduler) {
        executor = scheduler.makeSerialExecutor()
    }

    func add(yields: Bool) async {
        count += 1
        if yields { await Task.yield() }
    }
}
