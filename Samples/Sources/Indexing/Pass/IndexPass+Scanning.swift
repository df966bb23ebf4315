internal import GRDB
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
            return (change, difference)
        }
        events.removeAll(keepingCapacity: true)
        report.add(change)
        index.board.update { status in
            status.counts.add(difference)
            status.hasScanned = status.hasScanned || isAtEnd
            guard isAtEnd else { return }
            status.unreadable = report.unreadable
            status.ignoreProblems = scanner.ignoreProblems.map { FileProblem($0) }
        }
        // Another folder in the root's place (a volume that was mounted or unmounted) proves nothing about deletions.
        if isAtEnd { phase = root.isCurrent ? .sweeping(after: 0) : .indexing }
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
            try files.forEachIdentifier(atOrBelow: failure.path) { seen.insert($0) }
        case .file(let path, let stamp):
            change.scanned += 1
            guard let row = try files.find(path) else {
                seen.insert(try files.insert(path, stamp))
                change.added += 1
                difference.add(IndexCounts(state: .pending, reason: nil, isTruncated: false))
                return
            }
            seen.insert(row.id)
            guard row.isStale(stamp, canConvert: extractor.canConvert) else { return }
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
