/// The flags of a work item: they decide its level and its order in a queue (rules B8, B9, B11).
public struct WorkItemFlags: OptionSet, Sendable, Hashable {
    /// The flags as bits.
    public let rawValue: UInt8

    /// Makes flags from bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Prefers the level of the queue, or of the thread for synchronous submission (rule B8). It is the default of
    /// asynchronous submission. ``enforceQoS`` beside it wins.
    public static let inheritQoS = WorkItemFlags(rawValue: 1 << 0)

    /// Prefers the item's level, if it is higher than the queue's (rule B8). It is the default of synchronous
    /// submission.
    public static let enforceQoS = WorkItemFlags(rawValue: 1 << 1)

    /// Gives the item no level, neither its own nor its submitter's (rule B8).
    public static let noQoS = WorkItemFlags(rawValue: 1 << 2)

    /// Gives the item neither the level nor the context of its submitter (rule B9). A level of its own counts.
    public static let detached = WorkItemFlags(rawValue: 1 << 3)

    /// Captures level and context at the item's creation, and not at its submission (rule B9).
    public static let assignCurrent = WorkItemFlags(rawValue: 1 << 4)

    /// Runs the item alone on a concurrent queue, after all before it, before all after it (rule B11).
    ///
    /// It has no effect on a serial queue, where each item is alone, nor on a global one.
    public static let barrier = WorkItemFlags(rawValue: 1 << 5)

    /// Declares the item's behaviour at a shutdown of its scheduler. Without it, the item runs within the shutdown's
    /// grace.
    ///
    /// It has no effect on a synchronous submission, whose submitter waits for it. The stronger of several counts:
    /// ``ShutdownBehavior/finish`` for two different ones.
    public static func onShutdown(_ behavior: ShutdownBehavior) -> WorkItemFlags {
        WorkItemFlags(rawValue: behavior.rawValue << 6)
    }

    /// The argument of ``onShutdown(_:)``; `nil` without it.
    public var shutdownBehavior: ShutdownBehavior? { ShutdownBehavior(rawValue: rawValue >> 6) }
}
