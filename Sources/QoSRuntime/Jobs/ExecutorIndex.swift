import QoSCore

/// The places of a scheduler's executors in its table, at most 256. A worker uses them to know on behalf of which
/// executor to run a job.
///
/// The first places are for each shutdown behavior, and for none: one executor for each class, and one that follows
/// each job's priority. Then come the executors of each class with a relative priority.
enum ExecutorIndex {
    /// The number of executors for each behavior, and for none.
    static let perBehavior = QoSClass.allCases.count + 1

    private static let firstLowered = (ShutdownBehavior.allCases.count + 1) * perBehavior

    /// The number of executors of each class with a relative priority below 0.
    static let loweringsPerClass = RelativePriority.range.count - 1

    /// The number of executors of a scheduler.
    static let count = firstLowered + QoSClass.allCases.count * loweringsPerClass

    /// Returns the class of the executor at a place; `nil` for one that follows each job's priority.
    @inline(__always)
    static func qosClass(at index: Int) -> QoSClass? {
        index < firstLowered
            ? QoSClass(rank: index % perBehavior) : QoSClass(rank: (index - firstLowered) / loweringsPerClass)
    }

    /// Returns the place of a level's executor.
    static func index(of level: QoSLevel) -> Int {
        let lowering = -level.relativePriority.rawValue
        guard lowering > 0 else { return index(of: level.qosClass, nil) }
        return firstLowered + level.qosClass.rank * loweringsPerClass + lowering - 1
    }

    /// Returns the place of the executor of a class, or of the one that follows each job's priority, for jobs with or
    /// without a declared behavior.
    static func index(of qosClass: QoSClass?, _ behavior: ShutdownBehavior?) -> Int {
        Int(behavior?.rawValue ?? 0) * perBehavior + (qosClass?.rank ?? QoSClass.allCases.count)
    }
}

extension QoSClass {
    /// Makes the class at which a job is queued: that of its priority (rule C4); default for a job without one (rule
    /// C2).
    @inline(__always)
    init(_ priority: JobPriority) {
        self = QoSClass(rawPriority: priority.rawValue) ?? .default
    }
}

extension QoSClass {
    /// Makes the class of a pool's rank, 0…4.
    @inline(__always)
    init(atRank rank: Int) {
        assert((0..<QoSClass.allCases.count).contains(rank), "no pool has rank \(rank)")
        self = QoSClass(rank: rank) ?? .default
    }
}

/// The receiver of a job: the part of an executor that timers, and questions about the calling task, need to know.
// SAFETY: none of its state changes.
class JobReceiver: @unchecked Sendable {
    /// The class of an executor for one class; `nil` for one that follows each job's priority.
    final let qosClass: QoSClass?

    init(qosClass: QoSClass?) {
        self.qosClass = qosClass
    }

    /// Queues a job. A subclass overrides it: else the job would be lost.
    func enqueue(_ job: UnownedJob) { preconditionFailure("an executor queues its jobs itself") }
}
