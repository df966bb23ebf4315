internal import GRDB
internal import TreeScan

/// The steps of a pass over one folder of the tree. They look at the rows of that folder only.
extension IndexPass {
    /// Removes the files of the folder that the scan did not see, a batch of rows at a time.
    func sweepFolder(
        _ folder: RelativePath, after path: [UInt8], _ limit: BatchLimit, _ deadline: ContinuousClock.Instant
    ) throws {
        let (last, removed, difference) = try transaction { database in
            let files = FileTable(database: database)
            let documents = try DocumentTable(database)
            var last: [UInt8]?
            var removed = 0
            var difference = IndexCounts()
            for row in try files.rows(below: folder, after: path, limit: limit.entries) {
                guard last == nil || ContinuousClock.now < deadline else { break }
                last = row.path.bytes
                guard !seen.contains(row.id) else { continue }
                if row.isDocumented { try documents.delete(row.id) }
                try files.delete(row.id)
                removed += 1
                difference.add(row.counts, times: -1)
            }
            return (last, removed, difference)
        }
        report.removed += removed
        index.board.update { $0.counts.add(difference) }
        phase = last.map { .sweepingFolder(after: $0) } ?? .indexing
    }

    /// The next files of the folder to read. A file that was read meanwhile, or is gone, is passed over.
    func nextWanted(_ database: Database, limit: Int) throws -> [FileRow] {
        let files = FileTable(database: database)
        var rows: [FileRow] = []
        while rows.count < limit, rows.count < wanted.count {
            guard let row = try files.find(wanted[wanted.count - 1 - rows.count]), row.state == .pending else {
                wanted.remove(at: wanted.count - 1 - rows.count)
                continue
            }
            rows.append(row)
        }
        return rows
    }

    private func wantedAhead(_ count: Int) throws -> [FileRow] {
        chosen(try pool.read { try nextWanted($0, limit: count) })
    }

    /// Runs a step of a pass over one folder from a task, whose child tasks read the files.
    func stepInFolder(_ limit: BatchLimit) async throws -> StepOutcome {
        isInTask = true
        if case .indexing = phase, readFiles.isEmpty {
            readFiles = await Self.read(try wantedAhead(limit.documents), extractor, root, index.options.now)
            try Task.checkCancellation()
        }
        return try stepInTurn(limit: limit)
    }
}
