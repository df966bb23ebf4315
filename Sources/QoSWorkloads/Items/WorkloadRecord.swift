public import QoSCore

/// An item as its store has it.
public struct WorkloadRecord: Sendable, Hashable, Codable, Identifiable {
    /// The number of the item.
    public let id: WorkloadItemID
    /// The request that made it.
    public let request: WorkloadRequest
    /// The time of its insertion.
    public let inserted: WallTime
    /// The state, with its reason, attempts and lease.
    public internal(set) var life: WorkloadLife
    /// The effective level: the requested one, or a higher one after a promotion.
    public internal(set) var level: QoSLevel
    /// The time at which it is due; ``WallTime/distantFuture`` if it waits for a file event.
    public internal(set) var due: WallTime
    /// The end of the window in which its run should begin.
    public internal(set) var windowEnd: WallTime
    /// The start of the last run's first attempt.
    public internal(set) var lastRun: WallTime?
    /// The last checkpoint of the current run, encoded.
    public internal(set) var checkpoint: [UInt8]?
    /// The last reported progress.
    public internal(set) var progress: WorkloadProgress?
    /// The items that must end first, in order.
    public internal(set) var waitsFor: [WorkloadItemID] = []

    /// The planned start of the current run, without the delays of retries.
    var planned: WallTime
    /// The length of a delay that the clock must not make longer, with the time at which it began.
    var delay: Delay?
    /// Whether an attempt of the current run has begun. A deferred attempt does not count, but its run has begun.
    var hasBegun = false
    /// Whether a file event came during the run.
    var isTriggeredAgain = false
    /// The time of the first file event since the last run.
    var firstTrigger: WallTime?
    /// Whether the next run ignores the conditions.
    var ignoresConditions = false

    struct Delay: Sendable, Hashable, Codable {
        var length: Duration
        var begin: WallTime
    }

    /// The state.
    public var state: WorkloadState { life.state }

    /// The name of the workload and the number: `thumbnails #12`.
    public var displayName: String { "\(request.name) \(id)" }
}
