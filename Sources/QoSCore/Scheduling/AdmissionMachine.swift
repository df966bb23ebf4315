/// The decision which classes may take jobs, made at job boundaries.
///
/// The kernel separates the classes by policy and nice. This value does what the kernel cannot:
///
/// - It bounds how many workers of each class compete.
/// - It leaves a core to a class that was kept off for too long.
/// - It stops classes for awaited work (fences).
/// - It applies the governor's widths.
///
/// It holds no job, no thread and no clock. The driver reports events with their time, carries out the answers, and
/// serialises the calls. A time before that of the last event counts as the same time. So a driver may read its clock
/// before it takes its lock.
///
/// - Complexity: O(classes) for an event, O(fences) for an event of a fence; nothing allocates.
package struct AdmissionMachine: Sendable {
    /// The records and the rules.
    package internal(set) var table: AdmissionTable

    /// The numbers of decisions so far.
    package internal(set) var counters = AdmissionCounters()

    /// The time of the last event.
    package internal(set) var now: SchedulerInstant

    var fences = FenceTable()
    let fullFence: Int64

    /// Makes a machine for classes without work.
    ///
    /// - Parameters:
    ///   - cores: The number of cores that the process may use; at least 1, a smaller number counts as 1.
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

    /// The number of raised fences.
    package var raisedFences: Int { fences.count }
}
