public import QoSCore

extension QoSScheduler {
    /// Limits how many workers of a class are at work at a time, for a governor that saves energy or gives way to others.
    ///
    /// Takes effect at job boundaries: surplus workers park when they have ended their job, or at ``QoS/checkpoint()``. A limit that
    /// is raised or lifted takes effect at once. ``SchedulerEvent/widthLimited(_:to:afterNanoseconds:)`` tells when it has.
    ///
    /// A limit of 0 pauses the class: what waits goes on waiting, except for what something of a higher class waits for: that is
    /// moved to the pool of that class, as always (rule I4), and what runs already, and comes to its end. A shutdown lifts all limits.
    ///
    /// Any thread; some microseconds.
    ///
    /// - Parameters:
    ///   - limit: 0 and up, a negative one counts as 0; `nil` lifts the limit.
    ///   - qosClass: the class.
    public func setWidthLimit(_ limit: Int?, for qosClass: QoSClass) {
        core.setWidthLimit(limit ?? .max, of: qosClass)
    }

    /// The limit of a class; `nil` without one. Any thread.
    public func widthLimit(for qosClass: QoSClass) -> Int? {
        let limit = core.group.admission.widthLimit(rank: qosClass.rank)
        return limit == .max ? nil : limit
    }
}
