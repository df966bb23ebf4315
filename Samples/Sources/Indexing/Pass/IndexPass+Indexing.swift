internal import GRDB
internal import Glibc
internal import TreeScan

extension IndexPass {
    /// The number of pages that one step of merging writes. With the default page size about a megabyte.
    private static let mergePages = 256

    /// Reads a batch of pending files and writes their documents.
    func read(_ limit: BatchLimit, _ began: ContinuousClock.Instant) throws {
        // At least a fifth of the time is for documents. Else the step would only commit.
        let deadline = began + max(limit.duration / 5, limit.duration - commitCost)
        var lastDocument = began
        let (taken, difference, problems) = try transaction { database in
            let files = FileTable(database: database)
            let documents = try DocumentTable(database)
            var taken: [Int64] = []
            var difference = IndexCounts()
            let rows =
                folder == nil
                ? try files.pending(limit: limit.documents) : try nextWanted(database, limit: limit.documents)
            for row in rows {
                // Files that other tasks are reading are left to the next step.
                let isAtHand = readFiles.isEmpty || readFiles[row.id] != nil
                guard taken.isEmpty || (isAtHand && ContinuousClock.now < deadline) else { break }
                difference.add(row.counts, times: -1)
                difference.add(try settle(row, files, documents).counts)
                taken.append(row.id)
            }
            lastDocument = ContinuousClock.now
            let isChanged = difference.failed != 0 || difference.truncated != 0 || taken.isEmpty
            return (taken, difference, isChanged ? try files.problems(limit: FileProblem.limit) : nil)
        }
        commitCost = (commitCost + (ContinuousClock.now - lastDocument)) / 2
        // Only now: a step that is rolled back writes them again.
        for id in taken { readFiles[id] = nil }
        if folder != nil { wanted.removeLast(taken.count) }
        report.settled += taken.count
        index.board.update { status in
            status.counts.add(difference)
            status.settled += taken.count
            if let problems { status.problems = problems }
        }
        if taken.isEmpty { phase = folder == nil ? .merging : .finished }
    }

    /// Puts a bounded part of the full-text index in order, so that searches read fewer parts.
    ///
    /// Once half of the texts were replaced, the index is merged as a whole: else it would keep growing, and searches
    /// would take half as long again. So each text is written twice at most because of it.
    func merge() throws {
        let texts = index.status.counts.indexed
        let hadWork = try transaction { database in
            let documents = try DocumentTable(database)
            let isOutdated = try OutdatedTexts(database: database).count * 2 > texts
            return try isOutdated
                ? documents.mergeAll(pages: Self.mergePages) : documents.merge(pages: Self.mergePages)
        }
        if !hadWork { phase = .finished }
    }

    /// Reads one file and writes the result. Returns the file's new row.
    private func settle(_ old: FileRow, _ files: FileTable, _ documents: DocumentTable) throws -> FileRow {
        let now = readFiles[old.id]?.time ?? index.options.now()
        let result = try readFiles[old.id]?.result ?? extract(old)
        var row = old
        row.stamp = result.stamp ?? old.stamp
        row.isRacy = result.changedMeanwhile || row.stamp.isRacy(at: now)
        var note = ""
        switch result.outcome {
        case .document(let document):
            try documents.put(document, of: old)
            row.state = document.problem == nil ? .indexed : .failed
            row.reason = document.problem == nil ? nil : .undecodable
            row.isDocumented = true
            row.isTruncated = document.isTruncated
            note = document.problem ?? ""
        case .none(let reason, let detail):
            // Its name is found all the same.
            if reason.hasName {
                try documents.put(ExtractedDocument(), of: old)
            } else if old.isDocumented {
                try documents.delete(old.id)
            }
            row.state = reason.isSkip ? .skipped : .failed
            row.reason = reason
            row.isDocumented = reason.hasName
            row.isTruncated = false
            note = detail
        }
        try files.settle(row, detail: note)
        return row
    }

    private func extract(_ row: FileRow) throws -> ExtractionResult {
        // A task reads it ahead of the next step instead.
        if isInTask, extractor.canConvert(row.path) {
            throw FileSystemFailure(path: row.path, operation: "convert", code: EAGAIN)
        }
        return try extractor.extract(row.path, in: root)
    }
}
