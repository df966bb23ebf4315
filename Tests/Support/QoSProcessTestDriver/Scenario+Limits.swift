import Glibc
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntime
import QoSRuntimeTestSupport

// Programs that meet a limit, or a mistake that only standard error can tell.

/// Prints the refusals of threads.
struct RefusalObserver: SchedulerObserver {
    func observe(_ event: SchedulerEvent) {
        if case .threadStartFailed = event { Driver.say("refused", "yes") }
    }
}

extension Scenario {
    /// Returns calls that make a number of threads, and refuse all later ones.
    static func callsWithThreads(_ count: Int) -> FaultInjectingSchedulingCalls {
        let made = Tally()
        let box = Lock<FaultInjectingSchedulingCalls?>(nil)
        let calls = FaultInjectingSchedulingCalls { call in
            guard call == .createThread, made.add() == count else { return }
            box.withLock { $0 }?.deny(.createThread, with: EAGAIN)
        }
        box.withLock { $0 = calls }
        if count == 0 { calls.deny(.createThread, with: EAGAIN) }
        return calls
    }

    /// Works in each class: tasks, an actor with an executor, a serial queue with items of two classes.
    func workWithFewThreads() async {
        guard let scheduler = QoSProcess.scheduler else { return }
        // Each class asks for a thread: nobody awaits these tasks, so none is raised before its class has one.
        let (begun, continuation) = AsyncStream.makeStream(of: QoSClass.self)
        for qosClass in QoSClass.allCases {
            Task.detached(priority: qosClass.taskPriority) { continuation.yield(qosClass) }
        }
        var missing = Set(QoSClass.allCases)
        for await qosClass in begun {
            missing.remove(qosClass)
            if missing.isEmpty { break }
        }
        let ended = await withTaskGroup { group in
            for qosClass in QoSClass.allCases {
                for _ in 0..<20 {
                    group.addTask(priority: qosClass.taskPriority) {
                        await Task.yield()
                        return 1
                    }
                }
            }
            return await group.reduce(0, +)
        }
        Driver.say("tasks", ended)
        let counter = LaneCounter(scheduler)
        for qosClass in QoSClass.allCases {
            await Task.detached(priority: qosClass.taskPriority) { await counter.count() }.value
        }
        Driver.say("calls", await counter.calls)
        let queue = scheduler.makeQueue("serial")
        let items = [QoSClass.background, .userInitiated, .utility, .userInteractive].map { qosClass in
            WorkItem(level: QoSLevel(qosClass)) {}
        }
        for item in items { try? queue.async(item) }
        for item in items { await item.waitUntilFinished() }
        Driver.say("items", items.count)
        await Task.detached(priority: .background) { try? await Task.sleep(for: .milliseconds(1)) }.value
        Driver.say("limits", scheduler.snapshot.limitsReached.map(\.rawValue).joined(separator: ","))
    }

    private actor LaneCounter {
        private let executor: QoSSerialExecutor
        private(set) var calls = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(_ scheduler: QoSScheduler) { executor = scheduler.makeSerialExecutor() }

        func count() { calls += 1 }
    }

    /// Locks a mutex within itself.
    func lockTwice() {
        let mutex = QoSMutex(0, name: "account")
        mutex.withLock { _ in mutex.withLock { _ in } }
    }

    /// Lets two threads lock two mutexes in the wrong order, without an observer. Prints the line that this gives on
    /// standard error.
    func lockInCircle() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        let (reading, writing) = (ends[0], ends[1])
        dup2(writing, STDERR_FILENO)
        let locks = Locks()
        let threads = [
            QoSThread(name: "thread-0") { locks.lock(locks.first, then: locks.second, 0) },
            QoSThread(name: "thread-1") { locks.lock(locks.second, then: locks.first, 1) },
        ]
        for thread in threads { try thread.start() }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(reading, &bytes, bytes.count)
        Driver.say("line", String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
        // The threads never end.
        exit(0)
    }

    private final class Locks: Sendable {
        let first = QoSMutex(0, name: "first")
        let second = QoSMutex(0, name: "second")
        let isHeld = [Gate(), Gate()]

        func lock(_ own: borrowing QoSMutex<Int>, then other: borrowing QoSMutex<Int>, _ index: Int) {
            own.withLock { _ in
                isHeld[index].open()
                isHeld[1 - index].blockThread()
                other.withLock { _ in }
            }
        }
    }

    /// Makes more schedulers than have numbers.
    func makeManySchedulers() throws {
        let schedulers = try (0..<64).map { _ in
            try QoSScheduler(configuration: .init(processors: 1, appliesKernelEffects: false))
        }
        Driver.say("reached", schedulers.count { $0.snapshot.limitsReached == [.schedulers] } >= 2)
        Driver.say("first", schedulers[0].snapshot.limitsReached.isEmpty)
    }
}
