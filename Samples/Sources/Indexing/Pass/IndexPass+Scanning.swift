internal import GRDB
internal import Synchronization
internal import TreeScan

extension IndexPass {
    /// Continues the walk for a batch and compares it with the table.
    func scan(_ scanner: TreeScanner, _ limit: BatchLimit, _ deadline: ContinuousClock.Instant) throws {
        var isAtEnd = false
        while events.count < limit.entries, ContinuousClock.now < deadline || events.isEmpty {
            guard let event = scanner.next() else {
                isAtEnd = true
                break
            }
            events.append(event)
        }
        let (change, difference) = try transaction { database in
            let files = FileTable(database: database)
            var change = PassReport()
            var difference = IndexCounts()
            for event in events {
                try compare(event, files, &change, &difference)
            }
            if isAtEnd, folder == nil {
                let unreadable = report.unreadable + change.unreadable
                try ScanRecord(time: index.options.now(), unreadable: unreadable).put(database)
            }
            return (change, difference)
        }
        for case .folder(let path) in events where folders.count < Self.folderLimit { folders.append(path) }
        events.removeAll(keepingCapacity: true)
        report.add(change)
        index.board.update { status in
            status.counts.add(difference)
            guard isAtEnd, folder == nil else { return }
            status.hasScanned = true
            status.unreadable = report.unreadable
            status.ignoreProblems = scanner.ignoreProblems.map { FileProblem($0) }
        }
        // Another folder in the root's place (a volume that was mounted or unmounted) proves nothing about deletions.
        guard isAtEnd else { return }
        guard root.isCurrent else {
            phase = .indexing
            return
        }
        phase = folder.map { .sweepingFolder(after: $0.subtree?.lower ?? []) } ?? .sweeping(after: 0)
    }

    /// Notes a file that the scan saw, or could not see.
    private func note(_ id: Int64, isPending: Bool) {
        seen.insert(id)
        guard folder != nil else { return }
        index.seenByRefreshes.withLock { $0.insert(id) }
        if isPending { wanted.append(id) }
    }

    private func compare(
        _ event: ScanEvent,
        _ files: FileTable,
        _ change: inout PassReport,
        _ difference: inout IndexCounts
    ) throws {
        switch event {
        case .folder:
            change.folders += 1
        case .leftOut:
            change.leftOut += 1
        case .failure(let failure):
            // An unreadable entry may still exist, unless the failure says that it is gone.
            guard !failure.isVanished else { return }
            change.note(failure.description)
            try files.forEachIdentifier(atOrBelow: failure.path) { note($0, isPending: false) }
        case .file(let path, let stamp):
            change.scanned += 1
            guard let row = try files.find(path) else {
                note(try files.insert(path, stamp), isPending: true)
                change.added += 1
                difference.add(IndexCounts(state: .pending, reason: nil, isTruncated: false))
                return
            }
            let isStale = row.isStale(stamp, canConvert: extractor.canConvert(path))
            note(row.id, isPending: isStale || row.state == .pending)
            guard isStale else { return }
            try files.markPending(row.id)
            change.changed += 1
            difference.add(row.counts, times: -1)
            difference.add(IndexCounts(state: .pending, reason: nil, isTruncated: false))
        }
    }
}

extension PassReport {
    /// Adds the report of a committed part of a scan.
    fileprivate mutating func add(_ other: PassReport) {
        scanned += other.scanned
        folders += other.folders
        leftOut += other.leftOut
        added += other.added
        changed += other.changed
        unreadable += other.unreadable
        unreadableExamples = Array((unreadableExamples + other.unreadableExamples).prefix(10))
    }
}
