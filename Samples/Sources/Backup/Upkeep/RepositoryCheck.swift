/// Looks for damage in a repository.
public struct RepositoryCheck: Sendable {
    /// The result.
    public struct Report: Sendable {
        /// The number of snapshots that were walked.
        public internal(set) var snapshots = 0
        /// The number of packs of which every byte was read.
        public internal(set) var packsRead = 0
        /// The bytes of those packs.
        public internal(set) var bytesRead: Int64 = 0
        /// The damage, for people: with the file of the repository, or with the snapshot and the path that lack a blob.
        public internal(set) var problems: [String] = []
    }

    private let repository: Repository
    /// The share of packs to read, 0 to 100.
    private let percent: Int
    /// Called between the looks at the snapshots and at the index. For tests.
    var looked: @Sendable () async throws -> Void = {}

    /// Makes a check.
    ///
    /// - Parameter percent: The share of packs of which every byte is read. They are others at each time.
    public init(_ repository: Repository, readingPercent percent: Int = 0) {
        self.repository = repository
        self.percent = percent
    }

    /// Reads the snapshots, the index, the records of all folders, and the share of packs. Changes nothing.
    ///
    /// - Parameter breathe: Called before each folder and each pack. It may wait, and it may throw to end the check.
    public func run(breathe: () async throws -> Void = {}) async throws -> Report {
        let lease = try? Lease(.read, in: repository.folder)
        defer { lease?.release() }
        var report = Report()
        // The snapshots first: what the index lacks of one that is written meanwhile is no damage.
        let (snapshots, problems) = try repository.snapshots()
        try await looked()
        let contents = try repository.contents()
        report.problems += contents.problems
        report.problems += problems
        let source = BlobSource(repository, index: contents.index(withDoomed: true))
        var walk = ReferenceWalk(source: source)
        for snapshot in snapshots {
            try await walk.begin(snapshot)
            while try await walk.step(breathe) {}
            report.problems += walk.problems.map { "snapshot \(snapshot.shortName): \($0)" }
            walk.problems = []
            report.snapshots += 1
        }
        for record in contents.records where percent > 0 && Int.random(in: 0..<100) < percent {
            try await breathe()
            try Task.checkCancellation()
            report.problems += await damage(in: record)
            report.packsRead += 1
            report.bytesRead += Int64(record.size)
        }
        return report
    }

    /// Reads all bytes of a pack.
    private func damage(in record: PackRecord) async -> [String] {
        let path = repository.folder.path(.packs, record.pack)
        let bytes: [UInt8]
        do {
            bytes = try repository.folder.read(path)
        } catch {
            return ["\(error)"]
        }
        guard Identifier(file: bytes) != record.pack else { return [] }
        let lost = record.entries.filter { entry in
            guard entry.offset + entry.length <= bytes.count else { return true }
            let sealed = Array(bytes[entry.offset..<(entry.offset + entry.length)])
            return PackFile.open(sealed, as: entry.blob, keys: repository.keys) == nil
        }
        return [
            "\(path) is damaged: its bytes do not match its name; \(lost.count) of \(record.entries.count) blobs are lost"
        ]
    }
}
