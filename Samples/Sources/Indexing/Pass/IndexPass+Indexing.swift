internal import GRDB
internal import TreeScan

extension IndexPass {
    /// Pages that one step of merging writes; with the default page size about a megabyte.
    private static let mergePages = 256

    /// Reads a batch of pending files and writes their documents.
    func read(_ limit: BatchLimit, _ began: ContinuousClock.Instant) throws {
        // At least a fifth of the time is for documents, or the commits would be all that is done.
        let deadline = began + max(limit.duration / 5, limit.duration - commitCost)
        var lastDocument = began
        let (settled, difference) = try transaction { database in
            let files = FileTable(database: database)
            let documents = DocumentTable(database: database)
            var settled = 0
            var difference = IndexCounts()
            for row in try files.pending(limit: limit.documents) {
                guard settled == 0 || ContinuousClock.now < deadline else { break }
                difference.add(row.counts, times: -1)
                difference.add(try settle(row, files, documents).counts)
                settled += 1
            }
            lastDocument = ContinuousClock.now
            return (settled, difference)
        }
        commitCost = (commitCost + (ContinuousClock.now - lastDocument)) / 2
        report.settled += settled
        index.board.update { status in
            status.counts.add(difference)
            status.settled += settled
        }
        if settled == 0 { phase = .merging }
    }

    /// Puts a bounded part of the full-text index in order, so that searches have fewer parts to look into.
    func merge() throws {
        let hadWork = try transaction { try DocumentTable(database: $0).merge(pages: Self.mergePages) }
        if !hadWork { phase = .finished }
    }

    /// Reads one file and writes what became of it; the result is its new row.
    private func settle(_ old: FileRow, _ files: FileTable, _ documents: DocumentTable) throws -> FileRow {
        let now = index.options.now()
        let result = try extractor.extract(old.path, in: root)
        var row = old
        row.stamp = result.stamp ?? old.stamp
        row.isRacy = result.changedMeanwhile || row.stamp.isRacy(at: now)
        var note = ""
        switch result.outcome {
        case .document(let document):
            try documents.put(document, of: old)
            row.state = .indexed
            row.isDocumented = true
            row.isTruncated = document.isTruncated
        case .none(let reason, let detail):
            if old.isDocumented { try documents.delete(old.id) }
            row.state = reason.isSkip ? .skipped : .failed
            row.reason = reason
            row.isDocumented = false
            note = detail
        }
        try files.settle(row, detail: note)
        return row
    }
}
