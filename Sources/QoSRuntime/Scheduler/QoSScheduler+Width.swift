public import QoSCore

extension QoSScheduler {
    /// Limits how many workers of a class are at work at a time. A governor uses this to save energy or to give way to
    /// others.
    ///
    /// Takes effect at job boundaries: surplus workers park at the end of their job, or at ``QoS/checkpoint()``. A
    /// raised or lifted limit takes effect at once. ``SchedulerEvent/widthLimited(_:to:after:)`` reports the
    /// moment.
    ///
    /// A limit of 0 pauses the class: queued work stays queued, and running work comes to its end. If work of a higher
    /// class waits for queued work, that moves to the pool of the higher class, as always (rule I4). A shutdown lifts
    /// all limits, and ignores later ones.
    ///
    /// Any thread; some microseconds.
    ///
    /// - Parameters:
    ///   - limit: 0 and up. A negative one counts as 0. `nil` lifts the limit.
    ///   - qosClass: the class.
    public func setWidthLimit(_ limit: Int?, for qosClass: QoSClass) {
        core.setWidthLimit(limit ?? .max, of: qosClass)
    }

    /// Returns the limit of a class; `nil` without one. Any thread.
    public func widthLimit(for qosClass: QoSClass) -> Int? {
        let limit = core.group.admission.widthLimit(rank: qosClass.rank)
        return limit == .max ? nil : limit
    }
}
