public import QoSCore
public import ServiceContextModule

/// What travels with work: the level it was submitted at, the service context, the activity (rule X1).
///
/// Capture it with ``current`` where work is submitted or created, run the work's body with `run(_:)` where it is
/// executed (rule X2). Tasks need neither: their children inherit all of it.
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

    /// The service context: trace, request, whatever the program put into it.
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

    /// No level, no service context, no activity: for work that must not have its submitter's (rules B9, B10).
    public static let detached = ExecutionContext()

    /// The level that work infers from the context (rule B6): ``level``, with `userInteractive` translated to
    /// `userInitiated`.
    public var inferredLevel: QoSLevel? { level?.propagated }

    /// Runs a body in the context, on the calling thread: ``QoS/currentLevel``, `ServiceContext.current` and
    /// ``QoS/activity`` are the context's, and what the caller has besides is hidden.
    ///
    /// It moves nothing: the thread and the task keep what the kernel and the scheduler give them. In a task whose class is higher
    /// than the context's level, the current level is the task's, since that is what the body runs at.
    public func run<Success, Failure: Error>(
        _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        let work = CapturedWork(level: level)
        return try WorkScope.$task.bound(to: work) { () throws(Failure) -> Success in
            try WorkScope.with(work) { () throws(Failure) -> Success in try bind(body) }
        }
    }

    /// Runs an async body in the context, as a part of the calling task; as the synchronous form.
    public nonisolated(nonsending) func run<Success, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await WorkScope.$task.bound(to: CapturedWork(level: level)) {
            () async throws(Failure) -> Success in
            try await bind(body)
        }
    }

    /// Runs a body with the service context and the activity, and leaves the level to the caller: for owners of work that is
    /// ``CurrentWork`` itself.
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

    /// Stands for the work of a context that runs.
    private final class CapturedWork: CurrentWork {
        let effectiveLevel: QoSLevel?

        init(level: QoSLevel?) {
            effectiveLevel = level
        }
    }
}
