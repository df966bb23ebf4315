import QoSCore

extension QoS {
    /// Runs a body that may block its thread, and lets another worker of the class use the processor meanwhile.
    ///
    /// A thread that waits in the kernel, for a file, a lock or a child process, is lost to its class. With this call
    /// the scheduler knows at once, and another worker stands in, up to 32 for each class. Beyond that, and outside of
    /// a scheduler's workers, the body just runs. The scheduler notices undeclared blocking within some milliseconds,
    /// if work of the class waits. May be nested.
    ///
    /// Any thread. The body runs on the calling thread.
    public static func withBlocking<Success, Failure: Error>(
        _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        guard let worker = Worker.current, Worker.declareBlocking(worker) else { return try body() }
        defer { Worker.endDeclaredBlocking(worker) }
        return try body()
    }

    /// Does the same from a task. Leaves the caller's actor, so that only a worker's thread is blocked.
    ///
    /// The body runs on the executor that the task prefers, else on the process's default executor.
    @concurrent
    public static func withBlocking<Success: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        guard let worker = Worker.current, Worker.declareBlocking(worker) else { return try body() }
        defer { Worker.endDeclaredBlocking(worker) }
        return try body()
    }

    /// Lets more important work go first, in a loop that runs for long without suspending. The calling thread waits
    /// while its class is to stand aside.
    ///
    /// Costs a nanosecond or two while no such work waits; some 25 ns in a low class under a quota. It returns at once if other work may wait for the caller:
    ///
    /// - within a call of an actor,
    /// - within an item of a serial queue,
    /// - in promoted work,
    /// - within `withBlocking(_:)`.
    ///
    /// A job that is promoted while it waits here continues.
    ///
    /// Any thread. On a thread that is no scheduler's worker it does nothing. In a task, prefer ``yieldIfNeeded()``,
    /// which keeps no thread.
    @inline(__always)
    public static func checkpoint() {
        guard let worker = Worker.current, worker.value.hasToAsk else { return }
        Worker.askAtCheckpoint(worker)
    }

    /// Suspends the calling task if more important work has to go first; costs a few nanoseconds otherwise.
    public nonisolated(nonsending) static func yieldIfNeeded() async {
        guard let worker = Worker.current, worker.value.hasToAsk, worker.value.hasToAskMachine else { return }
        await Task.yield()
    }
}
