public import QoSCore
import QoSKernel

/// Runs background activities at good moments: inside their windows, with good conditions, and never twice in an
/// interval (rule S5).
///
/// ```swift
/// let activities = BackgroundActivityScheduler(on: scheduler, monitor: monitor)
/// try activities.schedule(BackgroundActivity("scrub", .every(.seconds(86_400), tolerance: .seconds(7_200)))) { run in
///     for block in blocks {
///         if run.shouldDefer { return .deferred }
///         try await check(block)
///     }
///     return .finished
/// }
/// ```
///
/// Background activities are discretionary work: they wait while the governor of the scheduler forbids that, and a run
/// is asked to defer. The schedules live in memory. Keep the scheduler of the activities: without a reference it ends
/// like ``shutdown(within:)``, but no caller waits.
///
/// Threading: any thread.
public final class BackgroundActivityScheduler: Sendable {
    private let driver: ActivityDriver
    private let host: any ActivityHost
    private let watch: any ActivityWatch

    /// Makes a scheduler of activities.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler that runs the bodies. A monitor that governs it decides on discretionary work.
    ///   - monitor: the source of the conditions; without one, all conditions hold.
    public convenience init(on scheduler: QoSScheduler, monitor: SystemMonitor? = nil) {
        self.init(host: SchedulerHost(scheduler, monitor))
        // Not the driver: a look at it on another thread may keep it for a moment after this scheduler is gone.
        scheduler.core.show { [weak self] in self?.states }
    }

    /// Makes a scheduler of activities on another host, for tests.
    package init(host: any ActivityHost) {
        let driver = ActivityDriver(host: host)
        self.driver = driver
        self.host = host
        watch = host.watch(
            changed: { [weak driver] in driver?.look() },
            ended: { [weak driver] in driver?.end(because: "the scheduler ends") })
    }

    deinit {
        watch.cancel()
        driver.end(because: "the scheduler of the activities is gone")
        driver.cancelRuns()
    }

    /// Adds an activity.
    ///
    /// - Parameters:
    ///   - activity: the name, the schedule and the conditions.
    ///   - body: the work of a run. It looks at `shouldDefer` now and then, at least every few milliseconds, and
    ///     returns `.deferred` soon after it. An error ends the run; the next one follows as after success. A body that
    ///     never ends blocks its own activity only.
    /// - Throws: ``BackgroundActivityError``.
    public func schedule(
        _ activity: BackgroundActivity,
        _ body: @escaping @Sendable (BackgroundActivityContext) async throws -> BackgroundActivityOutcome
    ) throws(BackgroundActivityError) {
        try driver.add(activity, body)
    }

    /// Cancels an activity. If it runs, the run is asked to defer, and its task is cancelled. The identifier is free
    /// when the run has ended.
    ///
    /// - Returns: whether there was such an activity.
    @discardableResult
    public func cancel(_ identifier: String) -> Bool {
        driver.cancel(identifier)
    }

    /// The states of the activities, in the order of their identifiers.
    public var states: [BackgroundActivityState] { driver.states }

    /// Returns the state of an activity; `nil` if there is none of this identifier.
    public func state(of identifier: String) -> BackgroundActivityState? {
        driver.states.first { $0.activity.identifier == identifier }
    }

    /// Ends the scheduler of the activities: begins no more runs, and asks the running ones to defer.
    ///
    /// - Parameter grace: the time until the tasks of the runs are cancelled. The call returns a second after that at
    ///   the latest.
    /// - Returns: the identifiers of the activities whose runs did not end in time.
    @discardableResult
    public func shutdown(within grace: Duration = .seconds(5)) async -> [String] {
        driver.end(because: "the scheduler of the activities ends")
        watch.cancel()
        let nanoseconds = grace.clampedNanoseconds
        host.wake(afterNanoseconds: nanoseconds, tolerance: 0) { [weak driver] in driver?.cancelRuns() }
        host.wake(afterNanoseconds: nanoseconds.addingSaturating(1_000_000_000), tolerance: 0) { [weak driver] in
            driver?.giveUp()
        }
        await driver.waitUntilIdle()
        return driver.running
    }
}
