/// What admission did since the start, for observation.
package struct AdmissionCounters: Sendable, Hashable {
    /// Workers admitted.
    package var admissions: UInt64 = 0
    /// Workers parked at a job boundary although they had work.
    package var parks: UInt64 = 0
    /// Starvation windows: how often higher classes began to stand aside for a lower one.
    package var windows: UInt64 = 0
    /// Fences raised.
    package var fencesRaised: UInt64 = 0
    /// Fences that turned to half because the awaited work did not end in time.
    package var fencesHalved: UInt64 = 0
    /// Fences lifted.
    package var fencesLifted: UInt64 = 0
    /// Fences that were not raised because too many were up.
    package var fencesRefused: UInt64 = 0

    /// Counters of nothing done yet.
    package init() {}
}
