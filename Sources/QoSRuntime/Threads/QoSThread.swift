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
    private enum Phase {
        case ready(@Sendable () throws -> Success)
        case running(Waiters)
        case ended(Result<Success, any Error>)
    }

    private struct Waiters {
        var threads: [ThreadWait] = []
        var tasks: [CheckedContinuation<Result<Success, any Error>, Never>] = []
    }

    /// What it is called; tools show the first 15 bytes.
    public let name: String

    private let stackSize: Int?
    private let ownLevel: ThreadLevel
    private let phase: Lock<Phase>

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
        phase = Lock(.ready(body))
    }

    /// The level; `nil` is unspecified, as for a thread that was opted out (rule T4).
    public var level: QoSLevel? { ownLevel.level }

    /// Which effects of its class the kernel refused the thread, by their names; empty before it runs (rule C6).
    public var missingEffects: Set<String> { Set(ownLevel.effects?.missing.map(\.rawValue) ?? []) }

    /// Sets the level, before the start.
    ///
    /// - Throws: ``QoSThreadError/alreadyStarted(name:)`` afterwards (rule T3).
    public func setLevel(_ level: QoSLevel?) throws(QoSThreadError) {
        let isReady = phase.withLock { phase in
            guard case .ready = phase else { return false }
            _ = ownLevel.set(level)
            return true
        }
        guard isReady else { throw .alreadyStarted(name: name) }
    }

    /// Starts it; returns when it runs.
    ///
    /// - Throws: ``QoSThreadError/alreadyStarted(name:)``, or ``QoSThreadError/refused(_:)`` when there can be no further thread; it
    ///   may then be tried again.
    public func start() throws(QoSThreadError) {
        let body = phase.withLock { phase -> (@Sendable () throws -> Success)? in
            guard case .ready(let body) = phase else { return nil }
            phase = .running(Waiters())
            return body
        }
        guard let body else { throw .alreadyStarted(name: name) }
        do throws(KernelError) {
            let thread = try Thread(name: name, stackSize: stackSize) { [self] in run(body) }
            thread.detach()
        } catch {
            phase.withLock { $0 = .ready(body) }
            throw .refused("\(error)")
        }
    }

    private func run(_ body: @Sendable () throws -> Success) {
        id.store(cqos_own_id(), ordering: .relaxed)
        ownLevel.beCurrent {
            ownLevel.applyEffects()
            let result = Result { try body() }
            let waiters = phase.withLock { phase -> Waiters in
                defer { phase = .ended(result) }
                guard case .running(let waiters) = phase else { return Waiters() }
                return waiters
            }
            for thread in waiters.threads { thread.parker.unpark() }
            for task in waiters.tasks { task.resume(returning: result) }
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
        let ended = try ended { $0.threads.append(wait) }
        if let ended { return try ended.get() }
        let waiter = LockWaiter(
            party: .callingThread, name: nil, level: QoS.currentLevel, lockName: awaitedName)
        while true {
            do {
                try waiter.sleep(awaiting: self, refusal: QoSThreadError.deadlock(waits:)) { wait.parker.park() }
            } catch {
                _ = try self.ended { waiters in waiters.threads.removeAll { $0 === wait } }
                throw error
            }
            if let ended = try self.ended(or: { _ in }) { return try ended.get() }
        }
    }

    /// What the body returned, when the thread has ended; the calling task is suspended until then. Cancellation does not end the
    /// wait.
    public var value: Success {
        get async throws {
            if phase.withLock({ if case .ready = $0 { true } else { false } }) {
                throw QoSThreadError.notStarted(name: name)
            }
            let result = await withCheckedContinuation { continuation in
                let ended = phase.withLock { phase -> Result<Success, any Error>? in
                    if case .ended(let result) = phase { return result }
                    if case .running(var waiters) = phase {
                        waiters.tasks.append(continuation)
                        phase = .running(waiters)
                    }
                    return nil
                }
                if let ended { continuation.resume(returning: ended) }
            }
            return try result.get()
        }
    }

    /// The result, or a note that somebody waits for it.
    private func ended(or note: (inout Waiters) -> Void) throws(QoSThreadError) -> Result<Success, any Error>? {
        let (isStarted, result) = phase.withLock { phase -> (Bool, Result<Success, any Error>?) in
            switch phase {
            case .ready: return (false, nil)
            case .ended(let result): return (true, result)
            case .running(var waiters):
                note(&waiters)
                phase = .running(waiters)
                return (true, nil)
            }
        }
        guard isStarted else { throw .notStarted(name: name) }
        return result
    }
}

extension QoSThread: ThreadAwaited {
    var blockers: [UInt32] {
        let isRunning = phase.withLock { if case .running = $0 { true } else { false } }
        let id = id.load(ordering: .relaxed)
        return isRunning && id != 0 ? [id] : []
    }

    var awaitedName: String { "the end of thread '\(name)'" }

    /// Whoever waits for its end raises nobody: what it waits for is the whole life of the thread.
    func raised(to level: LevelCode) {}

    func lowered(from level: LevelCode) {}
}
