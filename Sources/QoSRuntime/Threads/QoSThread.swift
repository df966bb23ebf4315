import CQoSShims
public import QoSCore
import QoSKernel
import Synchronization

/// A dedicated thread with a level (rules T1–T4), for code that has to block or to keep its thread. Use tasks for
/// everything else.
///
/// ```swift
/// let thread = QoSThread(name: "reader", level: .utility) { try readAll() }
/// try thread.start()
/// let bytes = try await thread.value
/// ```
///
/// Set the level before the start. After that only the thread itself can change it (``setCurrentLevel(_:)``). The
/// thread infers nothing. Without a level it reads as unspecified, whatever its creator's level, and gets the kernel
/// effects of `default`. Unlike a task it inherits no context either.
///
/// Threading: any thread, unless a method says otherwise. A started thread runs to its end, even without a reference to
/// the object.
public final class QoSThread<Success: Sendable>: Sendable {
    /// The thread's name. Tools show the first 15 bytes.
    public let name: String

    private let stackSize: Int?
    private let ownLevel: ThreadLevel
    private let life: Lock<ThreadLife<Success>>

    /// The kernel's id of the thread, once the thread runs.
    private let id = Atomic<UInt32>(0)

    /// Makes a thread. ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - name: the name for tools and reports.
    ///   - level: `nil` is unspecified.
    ///   - stackSize: bytes, at least 16 KiB; `nil` is the system's default.
    ///   - body: the thread's work. The thread ends when it returns or throws.
    public init(
        name: String, level: QoSLevel? = nil, stackSize: Int? = nil, _ body: @escaping @Sendable () throws -> Success
    ) {
        self.name = name
        self.stackSize = stackSize
        ownLevel = ThreadLevel(level)
        life = Lock(ThreadLife(body))
    }

    /// The level; `nil` is unspecified, also for a thread that was opted out (rule T4).
    public var level: QoSLevel? { ownLevel.level }

    /// The names of the class's effects that the kernel refused the thread; empty before it runs (rule C6).
    public var missingEffects: Set<String> { Set(ownLevel.effects?.missing.map(\.rawValue) ?? []) }

    /// Sets the level, before the start.
    ///
    /// - Throws: ``QoSThreadError/alreadyStarted(name:)`` afterwards (rule T3).
    public func setLevel(_ level: QoSLevel?) throws(QoSThreadError) {
        let isReady = life.withLock { life in
            guard life.isReady else { return false }
            _ = ownLevel.set(level)
            return true
        }
        guard isReady else { throw .alreadyStarted(name: name) }
    }

    /// Starts the thread. Returns when it runs.
    ///
    /// - Throws: ``QoSThreadError/alreadyStarted(name:)``, or ``QoSThreadError/refused(_:)`` when the system has no
    ///   further thread. The call may then be repeated. Threads and tasks that already wait for the end get
    ///   ``QoSThreadError/notStarted(name:)``.
    public func start() throws(QoSThreadError) {
        guard let body = life.withLock({ $0.started() }) else { throw .alreadyStarted(name: name) }
        do throws(KernelError) {
            let thread = try Thread(name: name, stackSize: stackSize) { [self] in run(body) }
            thread.detach()
        } catch {
            life.withLock { $0.startFailed() }.resume(.failure(QoSThreadError.notStarted(name: name)))
            throw .refused("\(error)")
        }
    }

    private func run(_ body: @Sendable () throws -> Success) {
        id.store(cqos_own_id(), ordering: .relaxed)
        ownLevel.beCurrent {
            ownLevel.applyEffects()
            let result = Result { try body() }
            life.withLock { $0.ended(result) }.resume(result)
        }
    }

    // MARK: The end

    /// Blocks the calling thread until the thread has ended. Any number of threads may call it, any number of times.
    ///
    /// - Returns: the body's result.
    /// - Throws: the body's error; ``QoSThreadError/joinsItself(name:)``, ``QoSThreadError/notStarted(name:)``;
    ///   ``QoSThreadError/deadlock(waits:)`` when the thread waits for the calling one, directly or through others
    ///   (rule I5).
    @discardableResult
    public func join() throws -> Success {
        if ThreadLevel.current === ownLevel { throw QoSThreadError.joinsItself(name: name) }
        let wait = ThreadWait()
        var waiter: LockWaiter?
        while life.withLock({ $0.waits { $0.threads.append(wait) } }) {
            defer { life.withLock { $0.gaveUp(wait) } }
            let known =
                waiter
                ?? LockWaiter(
                    party: .callingThread, name: nil, level: QoS.waitingLevel, lockName: awaitedName)
            waiter = known
            do {
                try known.sleep(wait, awaiting: self, refusal: QoSThreadError.deadlock(waits:))
            } catch {
                // The thread may have ended just when the wait was refused.
                guard life.withLock({ $0.result == nil }) else { break }
                throw error
            }
        }
        return try endedResult.get()
    }

    /// The body's result. Suspends the calling task until the thread has ended. Cancellation does not end the wait.
    public var value: Success {
        get async throws {
            let result = await withCheckedContinuation { continuation in
                let isKept = life.withLock { $0.waits { $0.tasks.append(continuation) } }
                if !isKept { continuation.resume(returning: endedResult) }
            }
            return try result.get()
        }
    }

    /// The result or error of the body, for a thread that does not run.
    private var endedResult: Result<Success, any Error> {
        life.withLock(\.result) ?? .failure(QoSThreadError.notStarted(name: name))
    }
}

extension QoSThread: ThreadWaitTarget {
    var blockers: [UInt32] {
        let isRunning = life.withLock(\.isRunning)
        let id = id.load(ordering: .relaxed)
        return isRunning && id != 0 ? [id] : []
    }

    var awaitedName: String { "the end of thread '\(name)'" }

    /// Raises nothing: a wait for the thread's end lasts for the whole life of the thread.
    func raised(to level: LevelCode) {}

    func lowered(from level: LevelCode) {}
}
