package import QoSCore

/// The surroundings of background activities: clocks, timers, tasks and the state of the machine.
///
/// A scheduler is one. `QoSTesting` has another one, in virtual time.
package protocol ActivityHost: Sendable {
    /// The clocks.
    var clocks: ClockReading { get }

    /// The state of the machine, and the allowances in force.
    var surroundings: (conditions: SystemConditions, decision: GovernorDecision) { get }

    /// Calls a body after a time in which the machine may be suspended.
    ///
    /// - Parameters:
    ///   - nanoseconds: the time, with the time of suspensions.
    ///   - tolerance: nanoseconds by which the call may be later.
    ///   - body: short. It is called on any thread, and not at all after the end of the host.
    func wake(afterNanoseconds nanoseconds: UInt64, tolerance: UInt64, _ body: @escaping @Sendable () -> Void)

    /// Starts a detached task of a class.
    func startTask(
        at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>

    /// Passes an event on. Short.
    func report(_ event: BackgroundActivityEvent)

    /// Calls a body at each change of the surroundings, and another one at the end of the host, until the token is
    /// cancelled.
    func watch(changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void) -> any ActivityWatch
}

/// A look at changes that can be ended.
package protocol ActivityWatch: Sendable {
    /// Ends the calls. Any thread; a call that is under way goes on.
    func cancel()
}
