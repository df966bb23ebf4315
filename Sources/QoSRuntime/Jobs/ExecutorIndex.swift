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
