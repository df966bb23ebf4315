/// Changes of files that start a run.
///
/// Each host that can run the item watches the paths, and triggers it. The run begins when the events have stopped for a
/// while, and at the latest after a longer while. Events during a run lead to one more run. A host that begins triggers
/// the item once, unless its catch-up policy is to skip, because files may have changed before.
///
/// A change of a folder is one of its entries, and not one in a subfolder. A path may name nothing yet.
public struct FileEventTrigger: Sendable, Hashable, Codable {
    /// The watched files and folders, from the root of the file system on.
    public var paths: [String]
    /// The time without events after which a run begins.
    public var settling: Duration
    /// The time after the first event at which a run begins although more events come.
    public var limit: Duration

    /// Makes a trigger. The limit is at least the settling time.
    public init(paths: [String], settling: Duration = .seconds(2), limit: Duration = .seconds(60)) {
        self.paths = paths
        self.settling = max(.zero, settling)
        self.limit = max(limit, self.settling)
    }

    /// Returns the start of the run that an event leads to.
    ///
    /// - Parameters:
    ///   - time: the time of the event.
    ///   - first: the time of the first event since the last run; `nil` for this one.
    func due(eventAt time: WallTime, first: WallTime?) -> WallTime {
        min(time.advanced(by: settling), (first ?? time).advanced(by: limit))
    }
}
