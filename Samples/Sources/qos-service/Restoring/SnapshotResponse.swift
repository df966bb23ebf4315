internal import Backup

/// The answer of `/snapshots`. Keys are written in snake case.
struct SnapshotResponse: Encodable {
    struct Item: Encodable {
        /// As the parameter `snapshot` has it.
        let id: String
        let name: String
        /// Seconds since 1970.
        let time: Double
        let host: String
        let folder: String
        let files: Int
        let bytes: Int64
        /// The number of entries that could not be saved.
        let problems: Int
    }

    /// The oldest first.
    let snapshots: [Item]
    /// Snapshots that cannot be read, for people.
    let problems: [String]

    init(_ snapshots: [Snapshot], problems: [String]) {
        self.snapshots = snapshots.map { snapshot in
            Item(
                id: snapshot.id?.description ?? "", name: snapshot.shortName,
                time: (Double(snapshot.time) / 1e6).rounded() / 1000, host: snapshot.host, folder: snapshot.folder,
                files: snapshot.files, bytes: snapshot.bytes, problems: snapshot.problems)
        }
        self.problems = problems
    }
}
