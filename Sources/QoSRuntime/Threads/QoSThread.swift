import CQoSShims
public import QoSCore
import QoSKernel
import Synchronization

/// A thread of one's own with a level (rules T1–T4), for code that has to block or to keep its thread. Everything else is better
/// off in tasks.
///
/// ```swift
/// let thread = QoSThread(name: "reader", level: .utility) { try readAll() }
/// try thread.start()
/// let bytes = try await thread.value
/// ```
///
/// Its level is set before it starts; after that only it itself can change it (``setCurrent(_:)``). It infers nothing: without a
/// level it reads as unspecified, whoever made it, and gets the kernel effects of `default`. In contrast to a task it inherits no
/// context either.
///
/// Threading: any thread, except where a method says otherwise. A thread that was started runs to its end, also when nobody keeps
/// the object.
public final class QoSThread<Success: Sendable>: Sendable {
    /// What it is called; tools show the first 15 bytes.
    public let name: String

    private let stackSize: Int?
    private let ownLevel: ThreadLevel
    private let life: Lock<ThreadLife<Success>>

    /// The kernel's id of the thread, once it runs.
    private let id = Atomic<UInt32>(0)

    /// Makes a thread; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - name: for tools and reports.
    ///   - level: `nil` is unspecified.
    ///   - stackSize: bytes, at least 16 KiB; `nil` is the system's default.
    ///   - body: what it does; it ends when this returns or throws.
    public init(
        name: String, level: QoSLevel? = nil, stackSize: Int? = nil, _ body: @escaping @Sendable () throws -> Success
    ) {
        self.name = name
        self.stackSize = stackSize
        ownLevel = ThreadLevel(level)
        life = Lock(ThreadLife(body))
    }

    /// The level; `nil` is unspecified, as for a thread that was opted out (rule T4).
    public var level: QoSLevel? { ownLevel.level }

    /// Which effects of its class the kernel refused the thread, by their names; empty before it runs (rule C6).
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

    /// Starts it; returns when it runs.
    ///
    /// - Throws: ``QoSThreadError/alreadyStarted(name:)``, or ``QoSThreadError/refused(_:)`` when there can be no further thread; it
    ///   may then be tried again. Those that have begun to wait for its end meanwhile get ``QoSThreadError/notStarted(name:)``.
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

    /// Blocks the calling thread until the thread has ended; any number of times, by any number of threads.
    ///
    /// - Returns: what the body returned.
    /// - Throws: what the body threw; ``QoSThreadError/joinsItself(name:)``, ``QoSThreadError/notStarted(name:)``;
    ///   ``QoSThreadError/deadlock(waits:)`` when the thread waits, in the end, for the calling one (rule I5).
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
                    party: .callingThread, name: nil, level: QoS.currentLevel, lockName: awaitedName)
            waiter = known
            do {
                try known.sleep(wait, awaiting: self, refusal: QoSThreadError.deadlock(waits:))
            } catch {
                // It may have ended just when the wait was refused.
                guard life.withLock({ $0.result == nil }) else { break }
                throw error
            }
        }
        return try endedResult.get()
    }

    /// What the body returned, when the thread has ended; the calling task is suspended until then. Cancellation does not end the
    /// wait.
    public var value: Success {
        get async throws {
            let result = await withCheckedContinuation { continuation in
                let isKept = life.withLock { $0.waits { $0.tasks.append(continuation) } }
                if !isKept { continuation.resume(returning: endedResult) }
            }
            return try result.get()
        }
    }

    /// What the body returned or threw, of a thread that does not run.
    private var endedResult: Result<Success, any Error> {
        life.withLock(\.result) ?? .failure(QoSThreadError.notStarted(name: name))
    }
}

extension QoSThread: ThreadAwaited {
    var blockers: [UInt32] {
        let isRunning = life.withLock(\.isRunning)
        let id = id.load(ordering: .relaxed)
        return isRunning && id != 0 ? [id] : []
    }

    var awaitedName: String { "the end of thread '\(name)'" }

    /// A wait for its end raises nothing: it is for the whole life of the thread.
    func raised(to level: LevelCode) {}

    func lowered(from level: LevelCode) {}
}
