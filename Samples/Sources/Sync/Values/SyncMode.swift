/// The direction of a sync.
public enum SyncMode: String, Sendable, Codable, CaseIterable {
    /// B becomes as A. Changes on B are undone.
    case mirror
    /// Changes go both ways.
    case twoWay = "two-way"
}

/// The way out when both sides changed the content of an entry since the last sync, in mode two-way.
public enum ConflictPolicy: String, Sendable, Codable, CaseIterable {
    /// A's version keeps the name. B's version gets a name of its own, on both sides.
    case keepBoth = "keep-both"
    /// The version with the later modification time replaces the other one. A's if the times are the same.
    case newer
    /// A's version replaces B's.
    case a
    /// B's version replaces A's.
    case b
}
