import QoSCore

/// What only the loop's thread of a scheduler touches: the threads that it has started, and when it looks at what.
final class LoopState {
    var phase = SchedulerPhase.running

    /// The workers' threads.
    var threads: [WorkerThread] = []

    /// When the queues are looked through next, and were last, monotonic nanoseconds.
    var nextRescan: UInt64?
    var lastRescan: UInt64 = 0

    /// When the workers are looked at next, monotonic nanoseconds.
    var nextWatch: UInt64 = 0

    /// When affinity and quota are read next, monotonic nanoseconds.
    var nextTopology: UInt64 = 0

    /// How many processors the affinity allowed when it was last read.
    var widthWithoutQuota: Int

    /// Since when jobs wait, by rank.
    var ages = Array(repeating: QueueAge(), count: QoSClass.allCases.count)

    init(widthWithoutQuota: Int) {
        self.widthWithoutQuota = widthWithoutQuota
    }
}
