/// How a work item comes to its level, and how it stands to the others of its queue (rules B8, B9, B11).
public struct WorkItemFlags: OptionSet, Sendable, Hashable {
    /// The flags as bits.
    public let rawValue: UInt8

    /// Makes flags of bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Prefer the level of the queue, or of the thread for synchronous submission (rule B8): the default of asynchronous
    /// submission. ``enforceQoS`` beside it wins.
    public static let inheritQoS = WorkItemFlags(rawValue: 1 << 0)

    /// Prefer the item's level even on a queue that has one, where it is higher (rule B8): the default of synchronous
    /// submission.
    public static let enforceQoS = WorkItemFlags(rawValue: 1 << 1)

    /// The item carries no level, neither its own nor its submitter's (rule B8).
    public static let noQoS = WorkItemFlags(rawValue: 1 << 2)

    /// The item has neither the level nor the context of its submitter (rule B9); a level of its own counts.
    public static let detached = WorkItemFlags(rawValue: 1 << 3)

    /// The item captures level and context when it is created, and not when it is submitted (rule B9).
    public static let assignCurrent = WorkItemFlags(rawValue: 1 << 4)

    /// On a concurrent queue: alone, after all before it, before all after it (rule B11). Has no effect on a serial queue,
    /// where each item is alone, nor on a global one.
    public static let barrier = WorkItemFlags(rawValue: 1 << 5)

    /// What becomes of the item when its scheduler is shut down; without it, the item is run within the shutdown's grace.
    ///
    /// Has no effect on a synchronous submission, whose submitter waits for it. Of several, the stronger one counts:
    /// ``ShutdownBehavior/block`` for two different ones.
    public static func onShutdown(_ behavior: ShutdownBehavior) -> WorkItemFlags {
        WorkItemFlags(rawValue: behavior.rawValue << 6)
    }

    /// What ``onShutdown(_:)`` was given; `nil` without it.
    public var shutdownBehavior: ShutdownBehavior? { ShutdownBehavior(rawValue: rawValue >> 6) }
}
