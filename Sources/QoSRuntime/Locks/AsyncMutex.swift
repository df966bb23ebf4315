/// Guards a value by a lock for tasks. A task that finds it held is suspended. The holder's task is raised while higher
/// work waits (rules I2, I4).
///
/// The body may suspend. The mutex goes to the highest waiter, among equals to the first. One hand-over in 16 goes to
/// the longest waiter instead, so that no waiter starves. A waiter that is raised meanwhile moves up, and its raise
/// reaches the holder. Along a chain, also through ``QoSMutex``, every holder is raised. A raise of a task lasts as long
/// as the task: Swift cannot take a priority back.
///
/// ```swift
/// let cache = AsyncMutex([String: Page](), name: "cache")
/// let page = try await cache.withLock { pages in
///     if let page = pages[path] { return page }
///     let page = try await load(path)
///     pages[path] = page
///     return page
/// }
/// ```
///
/// Threading: any task.
@safe
// SAFETY: `value` is touched by the task that holds the gate's only permit; a hand-over goes through the gate's lock.
public final class AsyncMutex<Value: Sendable>: @unchecked Sendable {
    private let gate: AsyncGate
    private let value: UnsafeMutablePointer<Value>

    /// Makes a free mutex around a value.
    ///
    /// - Parameters:
    ///   - value: the guarded value.
    ///   - name: for reports and errors.
    public init(_ value: Value, name: String? = nil) {
        gate = AsyncGate(
            permits: 1, description: name.map { "mutex '\($0)'" } ?? "a mutex without a name")
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    /// The number of tasks that wait at this moment. Any thread.
    public var waiterCount: Int { gate.waiterCount }

    /// Runs a body with the value. Suspends the task until no other task has the mutex.
    ///
    /// A task that is cancelled while it waits stops waiting. Cancellation does not disturb a task that gets the mutex
    /// at once, or has it.
    ///
    /// - Throws: `CancellationError`; ``LockError`` when the wait could never end: the task has the mutex already, or
    ///   the holder waits for something that the task has; or the body's error.
    public func withLock<Success>(_ body: (inout Value) async throws -> Success) async throws -> Success {
        try await gate.acquire(isOwned: true)
        // The task gives back its own permit. There is always a task in async code.
        let task = ConcurrencyRuntime.currentTask
        defer { gate.release(ownedBy: task) }
        return try await unsafe body(&value.pointee)
    }

    /// Runs a body with the value if no task has the mutex at this moment; otherwise returns `nil`.
    public func withLockIfAvailable<Success>(
        _ body: (inout Value) async throws -> Success
    ) async rethrows -> Success? {
        guard gate.acquireIfAvailable(isOwned: true) else { return nil }
        let task = ConcurrencyRuntime.currentTask
        defer { gate.release(ownedBy: task) }
        return try await unsafe body(&value.pointee)
    }
}
