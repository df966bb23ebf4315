public import SafeFiles

/// The snapshots that a person means.
public struct SnapshotFilter: Sendable, Hashable {
    /// The name of the machine; nil for any.
    public var host: String?
    /// Paths of folders of which a snapshot has all.
    public var folders: [String] = []
    /// Tags of which a snapshot has all.
    public var tags: [String] = []

    /// Makes a filter that all snapshots pass.
    public init() {}

    /// Whether a snapshot passes.
    public func matches(_ snapshot: Snapshot) -> Bool {
        Self.isSame(host ?? snapshot.host, snapshot.host)
            && folders.allSatisfy { folder in snapshot.folders.contains { Self.isSame($0, folder) } }
            && tags.allSatisfy(snapshot.tags.contains)
    }

    /// Whether two names have the same bytes. Texts of Swift are equal, too, if they are different ways to write the
    /// same letters, and a file system tells these apart.
    static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    /// Returns the last one of some snapshots that pass.
    ///
    /// A snapshot of the future was made by a wrong clock. It counts only if there is no other.
    ///
    /// - Parameter now: The present, in nanoseconds since 1970.
    /// - Throws: `BackupError.latestIsAmbiguous` if they are of several folders or machines.
    func last(of snapshots: [Snapshot], at now: Int64) throws -> Snapshot? {
        let matching = snapshots.filter(matches)
        let past = matching.filter { !$0.isOfFuture(at: now) }
        let candidates = past.isEmpty ? matching : past
        let places = Dictionary(
            candidates.map { (Array($0.folder.utf8) + [0] + Array($0.host.utf8), "\($0.folder) of \($0.host)") }
        ) { first, _ in first }
        guard places.count <= 1 else { throw BackupError.latestIsAmbiguous(places: places.values.sorted()) }
        return candidates.max { ($0.time, $0.shortName) < ($1.time, $1.shortName) }
    }
}

extension Snapshot {
    /// The distance of two clocks that are both right enough, in nanoseconds.
    private static let tolerance: Int64 = 3_600_000_000_000

    /// Whether the snapshot was made more than an hour after the present: by a clock that is wrong, or was.
    ///
    /// - Parameter now: The present, in nanoseconds since 1970.
    public func isOfFuture(at now: Int64 = FileTime.now) -> Bool { time > now.addingClamped(Self.tolerance) }
}
