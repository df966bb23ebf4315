/// Lets a number of tasks pass at a time; those that hold a permit are raised while something higher waits for one (rules I2, I4).
///
/// ```swift
/// let connections = try AsyncSemaphore(permits: 4, name: "connections")
/// let answer = try await connections.withPermit { try await ask() }
/// ```
///
/// A permit goes to the highest waiter, among equals to the first. Prefer ``withPermit(_:)``: of permits taken by ``wait()`` nobody
/// knows who will give them back, so nobody can be raised for them.
///
/// Threading: any task; ``signal()`` any thread.
public final class AsyncSemaphore: Sendable {
    private let gate: AsyncGate

    /// Makes a semaphore.
    ///
    /// - Parameters:
    ///   - permits: how many tasks may pass at first; 0 or more.
    ///   - name: for reports and errors.
    /// - Throws: ``LockError/invalidPermits(_:)``.
    public init(permits: Int, name: String? = nil) throws(LockError) {
        guard permits >= 0 else { throw .invalidPermits(permits) }
        gate = AsyncGate(
            permits: permits, description: name.map { "semaphore '\($0)'" } ?? "a semaphore without a name")
    }

    /// How many tasks wait at this moment. Any thread.
    public var waiterCount: Int { gate.waiterCount }

    /// Runs a body with a permit, when there is one; suspends until then.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits; ``LockError`` when all permits are held by tasks that
    ///   wait, in the end, for this one, itself included; or what the body throws.
    public func withPermit<Success>(_ body: () async throws -> Success) async throws -> Success {
        try await gate.acquire(isOwned: true)
        let task = ConcurrencyRuntime.currentTask
        defer { gate.release(ownedBy: task) }
        return try await body()
    }

    /// Takes a permit that anybody may give back; suspends until there is one.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits: it has no permit then.
    public func wait() async throws {
        try await gate.acquire(isOwned: false)
    }

    /// Gives a permit back, or adds one.
    public func signal() {
        gate.release(ownedBy: nil)
    }
}
