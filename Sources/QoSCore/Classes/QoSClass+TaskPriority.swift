// Conversions between classes and Swift task priorities (rule C4).

extension QoSClass {
    /// Makes the class of a raw Swift priority (rule C4).
    ///
    /// The raw values of the classes map to them. Any other value maps to the highest class whose raw value is not
    /// above it. 1…8 map to `background`.
    ///
    /// - Parameter rawPriority: 0…255. 0 means unspecified and gives `nil`.
    package init?(rawPriority: UInt8) {
        switch rawPriority {
        case 0: return nil
        case 33...: self = .userInteractive
        case 25...: self = .userInitiated
        case 21...: self = .default
        case 17...: self = .utility
        default: self = .background
        }
    }

    /// Makes the class of a task priority (rule C4); `nil` if the priority is unspecified.
    public init?(_ priority: TaskPriority) {
        self.init(rawPriority: priority.rawValue)
    }

    /// The Swift task priority of the class, with the same raw value (rule C4).
    public var taskPriority: TaskPriority { TaskPriority(rawValue: rawValue) }
}

extension TaskPriority {
    /// Makes the task priority of a class (rule C4).
    public init(_ qosClass: QoSClass) {
        self = qosClass.taskPriority
    }

    /// The priority of work that a user watches, above `.high` (rule C4).
    public static var userInteractive: TaskPriority { TaskPriority(.userInteractive) }
}
