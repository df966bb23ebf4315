internal import GRDB
internal import Glibc
internal import Synchronization
public import TreeScan

/// One pass over a folder, from the scan to the last document, as a sequence of short synchronous steps.
///
/// The scan comes first, so the number of pending files is known before the first of them is read. Each step commits
/// its work: a killed process repeats one step at most. A step blocks its thread on the disk and the database, for
/// about the batch's duration. One thread at a time, not necessarily the same.
public final class IndexPass {
    enum Phase {
        case scanning(TreeScanner)
        case sweeping(after: Int64)
        case sweepingFolder(after: [UInt8])
        case indexing
        case merging
        case finished
    }

    /// The maximum number of folders in `folders`.
    static let folderLimit = 2048

    let index: SearchIndex
    let pool: DatabasePool
    let root: RootFolder
    let extractor: TextExtractor
    var phase: Phase
    /// The report of the pass until now.
    public internal(set) var report = PassReport()
    /// The numbers of the files that the scan saw, or could not see.
    var seen = IdentifierSet()
    /// The first folders that the scan entered, up to `folderLimit`, for watches.
    public internal(set) var folders: [RelativePath] = []
    /// The scan's events that the database has not taken yet. Kept when a step has to be repeated.
    var events: [ScanEvent] = []
    /// The only folder that the pass is about; nil for all of them.
    let folder: RelativePath?
    /// The numbers of the files of that folder to read; the last one comes first.
    var wanted: [Int64] = []
    /// The number of refreshes that the files read ahead take into account.
    var refreshes: Int
    /// The files that were read ahead and are not written yet, by number.
    var readFiles: [Int64: ReadFile] = [:]
    /// The number of the last file that was read ahead.
    var lastRead: Int64 = 0
    /// Whether tasks drive the pass, so that no thread may wait for a converter.
    var isInTask = false
    /// The smoothed cost of the end of a batch: a commit writes the changes that earlier documents left in memory.
    var commitCost = Duration.zero
    private let start: ContinuousClock.Instant
    /// Given back as soon as the pass is over.
    private var token: PassToken?

    /// Begins a pass, or goes on behind the walk of an earlier one.
    init(
        _ index: SearchIndex, token: PassToken, pool: DatabasePool, from checkpoint: PassCheckpoint?
    ) throws(TreeScanError) {
        self.index = index
        self.token = token
        self.pool = pool
        folder = nil
        refreshes = index.refreshes.load(ordering: .sequentiallyConsistent)
        root = try RootFolder(index.folder)
        extractor = TextExtractor(index.options)
        if let checkpoint, checkpoint.isScanned, checkpoint.session == index.session.withLock({ $0 }) {
            phase = .indexing
            report = checkpoint.report
            start = .now - .seconds(report.seconds)
            index.board.update { $0.activity = .indexing }
        } else {
            phase = .scanning(try TreeScanner(root: root, options: index.options.scan))
            start = .now
            index.seenByRefreshes.withLock { $0 = IdentifierSet() }
            index.board.update { status in
                status.activity = .scanning
                status.scanned = 0
            }
        }
    }

    /// Begins a pass over one folder. Its maker has the turn until its end.
    init(_ index: SearchIndex, at folder: RelativePath, pool: DatabasePool) throws {
        self.index = index
        self.folder = folder
        self.pool = pool
        refreshes = 0
        root = try RootFolder(index.folder)
        extractor = TextExtractor(index.options)
        start = .now
        if folder != .root, let descriptor = try? root.descriptor(of: folder, for: .status) {
            defer { close(descriptor) }
            guard EntryStatus(descriptor: descriptor)?.kind == .directory else {
                throw TreeScanError.notAFolder(path: folder.display)
            }
        }
        phase = .scanning(try TreeScanner(root: root, at: folder, options: index.options.scan))
    }

    /// The converters that run for this pass.
    public var conversions: RunningConversions { extractor.conversions }

    /// The place from which a later pass can go on.
    public var checkpoint: PassCheckpoint {
        let isScanned =
            switch phase {
            case .scanning, .sweeping, .sweepingFolder: false
            case .indexing, .merging, .finished: true
            }
        return PassCheckpoint(session: index.session.withLock { $0 }, isScanned: isScanned, report: report)
    }

    deinit {
        index.board.update { status in
            if token != nil, status.activity != .paused { status.activity = .stopped }
        }
    }

    /// Does a bounded part of the pass, commits it and returns.
    ///
    /// - Returns: `progress` when there may be more to do, `paused` when the same step must be tried again later.
    /// - Throws: `IndexError.damaged` when the database is damaged (then `SearchIndex.rebuild` helps), another
    ///   `IndexError` when the pass cannot go on.
    public func step(limit: BatchLimit = BatchLimit()) throws(IndexError) -> StepOutcome {
        guard index.turns.takeIfFree() else { return .paused(.refreshing) }
        defer { index.turns.give() }
        _ = dropIfRefreshed()
        return try stepInTurn(limit: limit)
    }

    /// Forgets the files that were read ahead before a refresh wrote to the index. Returns whether there was one.
    func dropIfRefreshed() -> Bool {
        let now = index.refreshes.load(ordering: .sequentiallyConsistent)
        guard now != refreshes else { return false }
        (refreshes, readFiles, lastRead) = (now, [:], 0)
        return true
    }

    /// Does a step while nothing else changes the index.
    func stepInTurn(limit: BatchLimit) throws(IndexError) -> StepOutcome {
        let began = ContinuousClock.now
        do {
            if let damage = index.damage { throw IndexError.damaged(path: index.files.database, detail: damage) }
            guard index.isInPlace else { throw IndexError.lost(path: index.files.database) }
            let deadline = began + limit.duration
            switch phase {
            case .scanning(let scanner): try scan(scanner, limit, deadline)
            case .sweeping(let after): try sweep(after: after, limit, deadline)
            case .sweepingFolder(let after): try sweepFolder(folder ?? .root, after: after, limit, deadline)
            case .indexing: try read(limit, began)
            case .merging: try merge()
            case .finished: return .finished
            }
        } catch {
            return .paused(try pause(for: error))
        }
        let end = ContinuousClock.now
        report.longestStepMilliseconds = max(report.longestStepMilliseconds, (end - began) / .milliseconds(1))
        report.seconds = (end - start) / .seconds(1)
        publish()
        guard case .finished = phase else { return .progress }
        token = nil
        return .finished
    }

    /// Runs `body` in one transaction that is rolled back as a whole when it fails.
    func transaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try pool.write(body)
    }

    private func pause(for error: any Error) throws(IndexError) -> PauseReason {
        let reason: PauseReason? =
            switch error {
            case let error as DatabaseError: error.pauseReason
            case let error as FileSystemFailure: .exhausted(error.description)
            default: nil
            }
        guard let reason else {
            let failure = SearchIndex.translate(error, index.files)
            if folder == nil { index.board.update { $0.pause = failure.description } }
            throw failure
        }
        guard folder == nil else { return reason }
        index.board.update { status in
            status.activity = .paused
            status.pause = reason.description
        }
        return reason
    }

    private func publish() {
        // The status is about passes over the whole folder, except for its counts.
        guard folder == nil else { return }
        let activity: IndexActivity =
            switch phase {
            case .scanning: .scanning
            case .sweeping, .sweepingFolder: .sweeping
            case .indexing: .indexing
            case .merging: .merging
            case .finished: .idle
            }
        let size = index.files.size
        index.board.update { status in
            status.activity = activity
            status.pause = nil
            status.scanned = report.scanned
            status.databaseBytes = size
            if activity == .idle { status.lastPass = report }
        }
    }
}
