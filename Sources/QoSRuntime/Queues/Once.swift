import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// Runs a closure once. The first caller runs it, and the others wait for it (rule B14).
///
/// The waiting callers raise the item that runs the closure to their level (rule I1). Outside of an item, they raise
/// the thread until the closure has run, like the holder of a ``QoSMutex`` (rule I2).
///
/// Threading: any thread.
public final class Once: Sendable {
    private let isDone = Atomic<Bool>(false)
    private let present = Lock<OnceRun?>(nil)

    /// Makes an object that has not run a closure.
    public init() {}

    /// Whether a closure has run to its end.
    public var hasRun: Bool { isDone.load(ordering: .acquiring) }

    /// Runs the closure if none has run. If one is running, waits for it. Takes a nanosecond if one has run.
    ///
    /// A closure that throws does not count as run: the next caller's closure gets its turn.
    ///
    /// - Throws: the closure's error; ``WorkQueueError/wouldDeadlock(_:)`` when called from the closure itself;
    ///   ``WorkQueueError/deadlock(waits:)`` when the running closure waits, directly or through others, for the
    ///   calling thread.
    public func run(_ body: () throws -> Void) throws {
        while !hasRun {
            guard let run = try begin() else { continue }
            defer { end(run) }
            try body()
            isDone.store(true, ordering: .releasing)
        }
    }

    private enum Found {
        case free(OnceRun)
        case busy(OnceRun)
        case done
    }

    /// - Returns: the run that the caller begins; `nil` after it has waited for another caller.
    private func begin() throws(WorkQueueError) -> OnceRun? {
        let found = present.withLock { present -> Found in
            if let present { return .busy(present) }
            // Between the caller's look and this one, another closure may have run to its end.
            if isDone.load(ordering: .relaxed) { return .done }
            let run = OnceRun()
            present = run
            return .free(run)
        }
        switch found {
        case .free(let run): return run
        case .done: return nil
        case .busy(let run):
            if run.thread == cqos_own_id() { throw .wouldDeadlock("once") }
            try run.waitForEnd()
            return nil
        }
    }

    private func end(_ run: OnceRun) {
        present.withLock { $0 = nil }
        run.end()
    }
}
