/// The second level of the scheduler: which classes may take jobs, decided at job boundaries.
///
/// The kernel separates the classes by policy and nice; this value bounds how many workers of each class compete,
/// leaves a core to a class that was kept off for too long, stops classes for awaited work (fences) and applies the
/// governor's widths. It holds no job, no thread and no clock: the driver reports what happened, in past tense and
/// with the time, and does what the answer says. The driver serialises the calls.
///
/// A time that lies before that of the event before counts as the same time, so a driver may read its clock before
/// it takes its lock.
///
/// Complexity: O(classes) for an event, O(fences) for an event of a fence; nothing allocates.
package struct PickMachine: Sendable {
    /// The records and the rules.
    package internal(set) var table: AdmissionTable

    /// What was done so far.
    package internal(set) var counters = AdmissionCounters()

    /// The time of the last event.
    package internal(set) var now: SchedulerInstant

    var fences = FenceTable()
    let fullFence: Int64

    /// Makes a machine for classes without work.
    ///
    /// - Parameters:
    ///   - cores: How many cores the process may use; at least 1, a smaller number counts as 1.
    ///   - parameters: The constants by class.
    ///   - now: The time.
    package init(
        cores: Int, parameters: SchedulingParameters = SchedulingParameters(),
        at now: SchedulerInstant = SchedulerInstant(nanoseconds: 0)
    ) {
        table = AdmissionTable(cores: cores, parameters: parameters)
        fullFence = parameters.fullFence.schedulerNanoseconds
        self.now = now
    }

    /// How many fences are up.
    package var raisedFences: Int { fences.count }
}
