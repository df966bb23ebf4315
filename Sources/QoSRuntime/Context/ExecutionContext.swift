public import QoSCore
public import ServiceContextModule

/// The context that travels with work: the submitter's level, the service context, the activity (rule X1).
///
/// Capture it with ``current`` where work is submitted or created. Run the work's body with `run(_:)` where it is
/// executed (rule X2). Tasks need neither: their children inherit all of it.
///
/// It holds no other task-local values. Swift copies those from task to task, and has no call that lets other work carry
/// them. So items of queues, operations and completion closures do not see them.
///
/// ```swift
/// let context = ExecutionContext.current        // assignCurrent: at creation
/// pool.submit { context.run { work() } }
/// ```
///
/// Threading: a value; any thread.
public struct ExecutionContext: Sendable {
    /// The level at which the capturing code ran, before any translation; `nil` is unspecified.
    public var level: QoSLevel?

    /// The service context: the trace, the request, or any other values of the program.
    public var serviceContext: ServiceContext?

    /// The activity.
    public var activity: Activity?

    /// Makes a context; without arguments, ``detached``.
    public init(level: QoSLevel? = nil, serviceContext: ServiceContext? = nil, activity: Activity? = nil) {
        self.level = level
        self.serviceContext = serviceContext
        self.activity = activity
    }

    /// The context of the calling code. Some 100 ns; any thread or task.
    public static var current: ExecutionContext {
        ExecutionContext(level: QoS.currentLevel, serviceContext: ServiceContext.current, activity: QoS.activity)
    }

    /// A context without level, service context and activity, for work that must not have its submitter's (rules B9,
    /// B10).
    public static let detached = ExecutionContext()

    /// The level that work infers from the context (rule B6): ``level``, with `userInteractive` translated to
    /// `userInitiated`.
    public var inferredLevel: QoSLevel? { level?.propagated }

    /// Runs a body in the context, on the calling thread. ``QoS/currentLevel``, `ServiceContext.current` and
    /// ``QoS/activity`` are the context's, and the caller's own are hidden.
    ///
    /// It moves nothing: the thread and the task keep their kernel effects and their executor. In a task whose class is
    /// higher than the context's level, the current level is the task's: the body runs at it.
    public func run<Success, Failure: Error>(
        _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        let work = CapturedWork(level: level)
        return try WorkScope.$task.bound(to: work) { () throws(Failure) -> Success in
            try WorkScope.with(work) { () throws(Failure) -> Success in try bind(body) }
        }
    }

    /// Runs an async body in the context, as a part of the calling task. Otherwise like the synchronous form.
    public nonisolated(nonsending) func run<Success, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await WorkScope.$task.bound(to: CapturedWork(level: level)) {
            () async throws(Failure) -> Success in
            try await bind(body)
        }
    }

    /// Runs a body with the service context and the activity, and leaves the level to the caller. For owners of work
    /// that is itself ``CurrentWork``.
    package func bind<Success, Failure: Error>(
        _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        try ServiceContext.$current.bound(to: serviceContext) { () throws(Failure) -> Success in
            try LevelScope.$current.bound(to: activity.map(LevelScope.init(activity:)), body)
        }
    }

    /// Runs an async body with the service context and the activity, and leaves the level to the caller.
    package nonisolated(nonsending) func bind<Success, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await ServiceContext.$current.bound(to: serviceContext) {
            () async throws(Failure) -> Success in
            try await LevelScope.$current.bound(to: activity.map(LevelScope.init(activity:)), body)
        }
    }

    /// The work of a running context.
    private final class CapturedWork: CurrentWork {
        let effectiveLevel: QoSLevel?

        init(level: QoSLevel?) {
            effectiveLevel = level
        }
    }
}
