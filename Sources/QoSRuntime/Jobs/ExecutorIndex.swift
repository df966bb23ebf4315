import QoSCore

/// The places of a scheduler's executors in its table, by which a worker knows as whose a job is run: at most 256.
///
/// First those for each shutdown behavior, and for none: one for each class, one that goes by priority. Then those of each class with a
/// relative priority.
enum ExecutorIndex {
    /// How many executors there are for each behavior, and for none.
    static let perBehavior = QoSClass.allCases.count + 1

    private static let firstLowered = (ShutdownBehavior.allCases.count + 1) * perBehavior

    /// How many executors with a relative priority below 0 each class has.
    static let loweringsPerClass = RelativePriority.range.count - 1

    /// How many executors a scheduler has.
    static let count = firstLowered + QoSClass.allCases.count * loweringsPerClass

    /// The class of the executor at a place; `nil` for one that goes by priority.
    @inline(__always)
    static func qosClass(at index: Int) -> QoSClass? {
        index < firstLowered
            ? QoSClass(rank: index % perBehavior) : QoSClass(rank: (index - firstLowered) / loweringsPerClass)
    }

    /// The place of a level's executor.
    static func index(of level: QoSLevel) -> Int {
        let lowering = -level.relativePriority.rawValue
        guard lowering > 0 else { return index(of: level.qosClass, nil) }
        return firstLowered + level.qosClass.rank * loweringsPerClass + lowering - 1
    }

    /// The place of the executor of a class, or of the one that goes by priority, for jobs that declare something or nothing.
    static func index(of qosClass: QoSClass?, _ behavior: ShutdownBehavior?) -> Int {
        Int(behavior?.rawValue ?? 0) * perBehavior + (qosClass?.rank ?? QoSClass.allCases.count)
    }
}
