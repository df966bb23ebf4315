import QoSCore

/// A time of a test, in seconds.
func second(_ seconds: Double) -> SchedulerInstant {
    SchedulerInstant(nanoseconds: Int64((seconds * 1_000_000_000).rounded()))
}
