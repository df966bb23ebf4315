/// What can go wrong with operations and their queues; each leaves everything as it was.
public enum OperationError: Error, Sendable, Hashable {
    /// The dependency would close this cycle: each of the operations depends on the next, the last on the first (rule O10).
    case dependencyCycle([String])
    /// The operation named has started or finished, and takes no more dependencies (rule O10).
    case dependencyAfterStart(String)
    /// The operation named was added to a queue before; an operation runs once, in one queue.
    case addedTwice(String)
    /// The operation named did not run, because one that it depends on failed or was cancelled (rule O11).
    case dependencyFailed(String)
    /// The operation named would wait for itself, or for the queue that it runs in.
    case waitsForItself(String)
    /// Each of these operations would wait for the next, the last for the first, for ever: what was asked for has not been done.
    case deadlock([OperationWait])
    /// The queue named is not suspended.
    case notSuspended(String)
    /// That many operations at a time make no sense.
    case invalidLimit(Int)
}

extension OperationError: CustomStringConvertible {
    /// What is wrong and what to do about it.
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
