/// Lets a number of tasks pass at a time. Tasks with a permit are raised while higher work waits for one (rules I2,
/// I4).
///
/// ```swift
/// let connections = try AsyncSemaphore(permits: 4, name: "connections")
/// let answer = try await connections.withPermit { try await ask() }
/// ```
///
/// A permit goes to the highest waiter, among equals to the first. One permit in 16 goes to the longest waiter instead,
/// so that no waiter starves. Prefer ``withPermit(_:)``. A permit taken by ``wait()`` has no known owner, so no task can be
/// raised for it.
///
/// Threading: any task; ``signal()`` any thread.
public final class AsyncSemaphore: Sendable {
    private let gate: AsyncGate

    /// Makes a semaphore.
    ///
    /// - Parameters:
    ///   - permits: the number of tasks that may pass at first; 0 or more.
    ///   - name: for reports and errors.
    /// - Throws: ``LockError/invalidPermits(_:)``.
    public init(permits: Int, name: String? = nil) throws(LockError) {
        guard permits >= 0 else { throw .invalidPermits(permits) }
        gate = AsyncGate(
            permits: permits, description: name.map { "semaphore '\($0)'" } ?? "a semaphore without a name")
    }

    /// The number of tasks that wait at this moment. Any thread.
    public var waiterCount: Int { gate.waiterCount }

    /// Runs a body with a permit. Suspends the task until there is one.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits; ``LockError`` when this task, or tasks
    ///   waiting for it directly or through others, hold all permits; or the body's error.
    public func withPermit<Success>(_ body: () async throws -> Success) async throws -> Success {
        try await gate.acquire(isOwned: true)
        let task = ConcurrencyRuntime.currentTask
        defer { gate.release(ownedBy: task) }
        return try await body()
    }

    /// Takes a permit that any thread may give back. Suspends the task until there is one.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits. It then has no permit.
    public func wait() async throws {
        try await gate.acquire(isOwned: false)
    }

    /// Gives a permit back, or adds one. There are at most `Int.max`.
    public func signal() {
        gate.release(ownedBy: nil)
    }
}
