public import QoSCore
internal import QoSKernel
public import QoSRuntime

/// Background activities in virtual time, on a simulated machine (rule S5).
///
/// ```swift
/// let scheduler = DeterministicScheduler()
/// let simulation = ActivitySimulation(on: scheduler)
/// try simulation.activities.schedule(BackgroundActivity("tidy", .every(.seconds(3_600)))) { _ in .finished }
/// simulation.conditions.thermal = Condition(.serious, because: "simulated")
/// try scheduler.advance(by: .seconds(3_600))
/// print(simulation.activities.states)    // tidy is due, and waits: background is stopped: thermal state serious
/// ```
///
/// An activity that repeats always has a timer. So use `advance(by:)` of the scheduler, not `runUntilIdle()`.
///
/// Threading: any thread.
public final class ActivitySimulation: Sendable {
    /// The scheduler of the activities.
    public let activities: BackgroundActivityScheduler

    private let host: VirtualActivityHost

    /// Makes a simulation with nominal conditions.
    ///
    /// - Parameters:
    ///   - scheduler: runs the bodies; its clock is the machine's.
    ///   - policy: the policy of the governor. Its answers count at once.
    public init(on scheduler: DeterministicScheduler, policy: any GovernorPolicy = RecommendedPolicy()) {
        host = VirtualActivityHost(scheduler, policy)
        activities = BackgroundActivityScheduler(host: host)
    }

    /// The simulated state of the machine.
    public var conditions: SystemConditions {
        get { host.surroundings.conditions }
        set { host.set(newValue) }
    }

    /// The events of the activities so far.
    public var events: [BackgroundActivityEvent] { host.events }

    /// Sets the wall clock of the machine forward, or back by a negative duration.
    public func setWallClock(by duration: Duration) {
        host.setWallClock(by: duration)
    }

    /// Ends the simulated scheduler, as `QoSScheduler.shutdown(within:)` does.
    public func endScheduler() {
        host.end()
    }
}
