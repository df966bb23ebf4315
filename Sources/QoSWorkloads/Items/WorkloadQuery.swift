/// A selection of items, in the order of their numbers.
public struct WorkloadQuery: Sendable, Hashable, Codable {
    /// The states; empty for all.
    public var states: Set<WorkloadState>
    /// The workload; `nil` for all.
    public var name: WorkloadName?
    /// Whether only items on file events are wanted.
    public var onFileEvents: Bool
    /// Only items with higher numbers than this one; `nil` for all. The next page begins behind the last one's last
    /// item.
    public var after: WorkloadItemID?
    /// The largest number of items in the answer.
    public var limit: Int

    /// Makes a selection.
    public init(
        states: Set<WorkloadState> = [], name: WorkloadName? = nil, onFileEvents: Bool = false,
        after: WorkloadItemID? = nil, limit: Int = 1000
    ) {
        self.states = states
        self.name = name
        self.onFileEvents = onFileEvents
        self.after = after
        self.limit = limit
    }
}
