import QoSCore
import QoSKernel

/// The state that only the loop's thread of a scheduler uses: the threads that it has started, and the times of its
/// next looks.
final class LoopState {
    var phase = SchedulerPhase.running

    /// The workers' threads.
    var threads: [WorkerThread] = []

    /// The ranks of the classes to which the system has refused a thread.
    var refusedClasses: Set<Int> = []

    /// The times of the looks through the queues and at the workers.
    var looks = LookSchedule()

    /// The time at which affinity and quota are read next, monotonic nanoseconds.
    var nextTopology: UInt64 = 0

    /// Affinity and quota as they were when each was last read.
    var topology: Topology

    /// The ages of the oldest waiting jobs, by rank.
    var ages = Array(repeating: QueueAge(), count: QoSClass.allCases.count)

    init(topology: Topology) {
        self.topology = topology
    }
}
