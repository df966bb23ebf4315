internal import GRDB
internal import Synchronization

extension IndexPass {
    /// Removes the files that the scan did not see, a batch of rows at a time.
    func sweep(after id: Int64, _ limit: BatchLimit, _ deadline: ContinuousClock.Instant) throws {
        let (last, removed, difference) = try transaction { database in
            let files = FileTable(database: database)
            let documents = try DocumentTable(database)
            var last: Int64?
            var removed = 0
            var difference = IndexCounts()
            for row in try files.rows(after: id, limit: limit.entries) {
                guard last == nil || ContinuousClock.now < deadline else { break }
                last = row.id
                guard !seen.contains(row.id), !index.seenByRefreshes.withLock({ $0.contains(row.id) }) else { continue }
                if row.isDocumented { try documents.delete(row.id) }
                try files.delete(row.id)
                removed += 1
                difference.add(row.counts, times: -1)
            }
            return (last, removed, difference)
        }
        report.removed += removed
        index.board.update { $0.counts.add(difference) }
        phase = last.map { .sweeping(after: $0) } ?? .indexing
    }
}
