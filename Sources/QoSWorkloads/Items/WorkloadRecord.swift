public import QoSCore

/// An item as its store has it.
public struct WorkloadRecord: Sendable, Hashable, Codable, Identifiable {
    /// The number of the item.
    public let id: WorkloadItemID
    /// The request that made it, or the last one that has updated it.
    public package(set) var request: WorkloadRequest
    /// The time of its insertion.
    public let inserted: WallTime
    /// The state, with its reason, attempts and lease.
    public package(set) var life: WorkloadLife
    /// The effective level: the requested one, or a higher one after a promotion.
    public package(set) var level: QoSLevel
    /// The time at which it is due; ``WallTime/distantFuture`` if it waits for a file event.
    public package(set) var due: WallTime
    /// The end of the window in which its run should begin.
    public package(set) var windowEnd: WallTime
    /// The start of the last run's first attempt.
    public package(set) var lastRun: WallTime?
    /// The last checkpoint of the current run, encoded.
    public package(set) var checkpoint: [UInt8]?
    /// The last reported progress.
    public package(set) var progress: WorkloadProgress?
    /// The items that must end first, in order.
    public package(set) var waitsFor: [WorkloadItemID] = []

    /// The planned start of the current run, without the delays of retries.
    package var planned: WallTime
    /// The length of a delay that the clock must not make longer, with the time at which it began.
    package var delay: Delay?
    /// Whether an attempt of the current run has begun. A deferred attempt does not count, but its run has begun.
    package var hasBegun = false
    /// Whether a file event came during the run.
    package var isTriggeredAgain = false
    /// The time of the first file event since the last run.
    package var firstTrigger: WallTime?
    /// Whether the next run ignores the conditions.
    package var ignoresConditions = false

    /// A delay that began at a time.
    package struct Delay: Sendable, Hashable, Codable {
        package var length: Duration
        package var begin: WallTime

        package init(length: Duration, begin: WallTime) {
            self.length = length
            self.begin = begin
        }
    }

    /// Makes the record of a stored item.
    package init(
        id: WorkloadItemID, request: WorkloadRequest, inserted: WallTime, life: WorkloadLife, level: QoSLevel,
        window: RunWindow
    ) {
        self.id = id
        self.request = request
        self.inserted = inserted
        self.life = life
        self.level = level
        due = window.start
        windowEnd = window.end
        planned = window.start
    }

    /// The state.
    public var state: WorkloadState { life.state }

    /// The name of the workload and the number: `thumbnails #12`.
    public var displayName: String { "\(request.name) \(id)" }
}
