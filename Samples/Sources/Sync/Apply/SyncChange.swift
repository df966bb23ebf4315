internal import TreeScan

/// One name that a sync changed.
public struct SyncChange: Sendable, Codable, Hashable {
    /// What a sync does to a name.
    public enum Work: String, Sendable, Codable {
        /// A file, a link or a pipe was written.
        case copied
        /// It became a name of a file that has another one.
        case linked
        /// A folder was made.
        case made
        /// It was renamed. The path is the new one.
        case renamed
        /// Mode, owner, time or extended attributes were set.
        case described
        /// It was removed.
        case removed
    }

    /// What was done.
    public var work: Work
    /// The side that was changed.
    public var side: Side
    /// The path below the side's folder, safe to print.
    public var path: String
    /// When, in seconds since 1970.
    public var time: Double

    /// Makes a change.
    public init(_ work: Work, on side: Side, _ path: String, at time: Double) {
        self.work = work
        self.side = side
        self.path = path
        self.time = time
    }
}

extension SyncAction {
    /// What the step does, for a report; nil for one that only prepares another one.
    var reported: SyncChange.Work? {
        switch work {
        case .put: .copied
        case .link: .linked
        case .makeFolder: .made
        case .rename: .renamed
        case .describe, .setAttributes: .described
        case .delete: .removed
        case .moveAside: nil
        }
    }
}
