/// The numbers of admission's decisions since the start, for observation.
package struct AdmissionCounters: Sendable, Hashable {
    /// The number of admitted workers.
    package var admissions: UInt64 = 0
    /// The number of workers that parked at a job boundary although they had work.
    package var parks: UInt64 = 0
    /// The number of starvation windows: higher classes began to stand aside for a lower one.
    package var windows: UInt64 = 0
    /// The number of raised fences.
    package var fencesRaised: UInt64 = 0
    /// The number of fences that turned to half because the awaited work did not end in time.
    package var fencesHalved: UInt64 = 0
    /// The number of lifted fences.
    package var fencesLifted: UInt64 = 0
    /// The number of fences that were refused because too many were up.
    package var fencesRefused: UInt64 = 0

    /// Makes counters of zero.
    package init() {}
}
