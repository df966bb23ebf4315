import QoSCore
import QoSRuntime

/// An engine's data of a queue, beside the graph's.
struct EngineQueue: Sendable {
    let scheduler: QoSScheduler
    /// The waiters for the queue to become idle.
    var waiters: [Waiter] = []
    /// The highest level of ``waiters``. It also holds for operations that are added meanwhile (rule O9).
    var waitedAt: QoSLevel?
    var added = 0
    var finished = 0
    /// The expected number of operations in all; `nil` if it was not set.
    var expected: Int?
    var observers: [UInt64: StateSender<QueueProgress>] = [:]
    var lastObserver: UInt64 = 0
    /// The number of the last message to observers. A message with a lower number is older.
    var lastReport: UInt64 = 0

    /// The numbers for the queue's observers.
    var progress: QueueProgress { QueueProgress(added: added, finished: finished, expected: expected) }

    /// A message to the queue's observers; `nil` without observers.
    ///
    /// - Parameter isLast: whether the queue is gone, and no further message follows.
    mutating func report(isLast: Bool = false) -> QueueProgress.Report? {
        guard !observers.isEmpty else { return nil }
        lastReport += 1
        return QueueProgress.Report(
            progress: progress, number: lastReport, observers: Array(observers.values), isLast: isLast)
    }
}
