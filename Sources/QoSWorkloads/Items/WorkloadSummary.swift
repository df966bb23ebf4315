public import QoSCore

/// The number of items of a store by class and state, however many they are.
///
/// A class is that of the effective level.
public struct WorkloadSummary: Sendable, Hashable {
    /// The items of one class and state.
    public struct Group: Sendable, Hashable {
        /// The number of items.
        public var count: Int
        /// The earliest due time of ready and deferred items; `nil` for other states, and without items.
        public var oldestDue: WallTime?

        /// Makes a group.
        public init(count: Int = 0, oldestDue: WallTime? = nil) {
            self.count = count
            self.oldestDue = oldestDue
        }
    }

    private var groups: [QoSClass: [WorkloadState: Group]] = [:]

    /// Makes an empty summary.
    public init() {}

    /// The items of a class in a state.
    ///
    /// Deferred are the items with an unmet condition as the store knows it, those of a paused workload, and those that a
    /// claim has passed by because their key was full.
    public subscript(qosClass: QoSClass, state: WorkloadState) -> Group {
        get { groups[qosClass]?[state] ?? Group() }
        set { groups[qosClass, default: [:]][state] = newValue.count == 0 ? nil : newValue }
    }

    /// The number of items in a state, of all classes.
    public func count(_ state: WorkloadState) -> Int {
        QoSClass.allCases.reduce(0) { $0 + self[$1, state].count }
    }

    /// Adds items to a group. Stores call it.
    public mutating func add(_ count: Int, _ qosClass: QoSClass, _ state: WorkloadState, due: WallTime? = nil) {
        var group = self[qosClass, state]
        group.count += count
        if let due { group.oldestDue = min(group.oldestDue ?? due, due) }
        self[qosClass, state] = group
    }
}
