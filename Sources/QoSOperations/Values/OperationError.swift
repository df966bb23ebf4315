/// An error of operations and their queues. A refused call changes nothing.
public enum OperationError: Error, Sendable, Hashable {
    /// A refused dependency. It would close this cycle: each operation depends on the next, the last on the first (rule
    /// O10).
    case dependencyCycle([String])
    /// A refused dependency of the named operation, which has started or finished (rule O10).
    case dependencyAfterStart(String)
    /// The named operation was added to a queue before. An operation runs once, in one queue.
    case addedTwice(String)
    /// The named operation did not run, because one of its dependencies failed or was cancelled (rule O11).
    case dependencyFailed(String)
    /// The named operation would wait for itself, or for its own queue.
    case waitsForItself(String)
    /// A refused call. With it, each of these operations would wait for the next, the last for the first, forever.
    case deadlock([OperationWait])
    /// The named queue is not suspended.
    case notSuspended(String)
    /// An invalid limit: it must be positive.
    case invalidLimit(Int)
}

extension OperationError: CustomStringConvertible {
    /// The mistake and its remedy.
    public var description: String {
        switch self {
        case .dependencyCycle(let names):
            "a dependency would close a cycle: \((names + names.prefix(1)).joined(separator: " → ")); "
                + "leave it out, or split one of these operations"
        case .dependencyAfterStart(let name):
            "\(name) has started: say what it depends on before you add it to a queue"
        case .addedTwice(let name):
            "\(name) was added to a queue before: make a new operation for each run"
        case .dependencyFailed(let name):
            "\(name) did not run because an operation that it depends on failed or was cancelled: see that one's error, "
                + "or create it with onFailedDependency: .runAnyway"
        case .waitsForItself(let name):
            "\(name) would wait for itself, or for the queue that it runs in: let something outside of it wait"
        case .deadlock(let waits):
            "operations would wait for one another for ever: \(waits.map(\.description).joined(separator: ", ")); "
                + "let one of them go on without the other"
        case .notSuspended(let name):
            "\(name) is not suspended: resume a queue once for each time that it was found running and suspended"
        case .invalidLimit(let limit):
            "\(limit) operations at a time: use a positive number, or .unlimited"
        }
    }
}
