internal import FolderWatching
internal import QoSCore
internal import QoSRuntime
internal import QoSWorkloads
internal import Sync
internal import SyncAgent
internal import Synchronization
internal import TreeScan

/// The sync as requests see it: its watches, and the files that requests wait for.
final class SyncedFiles: Sendable {
    /// The label of the item that runs after changes.
    static let label = "sync after changes"
    /// The longest time for which the sync stays raised for a file that is there in an older version.
    private static let patience = Duration.seconds(60)

    /// The time between two notes of changes.
    private static let notePause = HostedWork.settling / 4

    /// A file of one side.
    private struct Place: Hashable {
        let path: RelativePath
        let side: Side
    }

    private struct State {
        var item: WorkloadItem?
        var trouble: String?
        /// The begin of the attempt that goes on.
        var began = ContinuousClock.now
        /// The versions that a whole sync left different, and that so stay different for now.
        var left: [Place: [FileStamp]] = [:]
    }

    private let settings: SyncSettings?
    private let sides: [Side: SyncedSide]
    private let wanted = WantedFiles()
    private let state = Mutex(State())
    private let folders: AsyncStream<[String]>
    private let feed: AsyncStream<[String]>.Continuation
    private let served: AsyncStream<Place>
    private let servedFeed: AsyncStream<Place>.Continuation

    private let ended: @Sendable (SyncReport, Duration) -> Void

    /// Makes it for a sync; nil for none.
    ///
    /// - Parameter ended: Takes what each sync did that came to its end, and its time.
    init(_ settings: SyncSettings?, ended: @escaping @Sendable (SyncReport, Duration) -> Void = { _, _ in }) {
        self.settings = settings
        self.ended = ended
        sides = settings.map { [.a: $0.sideA, .b: $0.sideB] } ?? [:]
        (folders, feed) = AsyncStream.makeStream(of: [String].self, bufferingPolicy: .bufferingNewest(1))
        (served, servedFeed) = AsyncStream.makeStream(of: Place.self, bufferingPolicy: .bufferingOldest(100))
    }

    /// The workload of the sync.
    ///
    /// - Parameter reached: Called after each step. For tests.
    func workload(reached: @escaping @Sendable (SyncStep) -> Void) -> SyncWorkload {
        let settings = settings
        return SyncWorkload(
            wanted: wanted,
            opening: { [self] parameters, options in
                state.withLock { $0.began = .now }
                guard let agent = try AgentAddress(parameters.b) else {
                    return try SyncRun(a: parameters.a, b: parameters.b, options: options)
                }
                let token = try SyncSettings.token(settings)
                return try SyncRun(a: parameters.a, agent: agent, token: token, options: options)
            },
            reached: reached, ended: { [self] in noteEnd($0) })
    }

    private func noteEnd(_ result: Result<SyncWorkload.Ending, any Error>) {
        switch result {
        case .success(let ending):
            let began = state.withLock { state in
                state.trouble = nil
                return state.began
            }
            ended(ending.report, .now - began)
            feed.yield(ending.folders)
        case .failure(is CancellationError), .failure(is WorkloadDeferral): break
        case .failure(let error): state.withLock { $0.trouble = "\(error)" }
        }
    }

    /// The reason why the last attempt failed; nil if it did not.
    var trouble: String? { state.withLock { $0.trouble } }

    /// Sets the item that runs after changes.
    func use(_ item: WorkloadItem) { state.withLock { $0.item = item } }

    private var current: WorkloadItem? { state.withLock { $0.item } }

    /// Watches the folders that each sync saw, until the task is cancelled. The framework watches the two roots alone.
    func watch() async throws {
        // The sync itself changes thousands of files. No request is to wait for the look at its events.
        let queue = QoSProcess.scheduler?.makeQueue("sync-folders", level: QoSLevel(.utility))
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [folders] in
                var watches = FolderWatches(on: queue) { changed.yield() }
                for await list in folders { await watches.watch(list) }
            }
            group.addTask {
                // A store that fails is asked again after the next change, and the sync from time to time goes on.
                for await _ in changes {
                    try? await self.current?.noteFileChange()
                    // Changes until then are one note: each is a transaction of the store.
                    try await Task.sleep(for: Self.notePause)
                }
            }
            group.addTask { [served] in
                // The file was sent already, so a failure harms nobody.
                for await place in served { try? await self.renew(place) }
            }
            try await group.waitForAll()
        }
        try Task.checkCancellation()
    }

    // MARK: Requests

    /// What a request for a file should do.
    enum Answer: Sendable, Equatable {
        /// Look at the folder now.
        case look
        /// Come again: the file is on its way.
        case isComing
        /// Come again: nobody knows whether the other side has the file. The reason is for the owner.
        case isUnknown(String)
    }

    /// Brings a file of one side before all others, if only the other side has it. The sync rises to userInitiated.
    ///
    /// - Parameters:
    ///   - path: The path below the folder.
    ///   - folder: The folder that the request is about.
    ///   - limit: The longest wait.
    func fetch(_ path: RelativePath, of folder: String, waitingUpTo limit: Duration) async throws -> Answer {
        guard let place = place(of: path, folder) else { return .look }
        do {
            guard try await isMissing(place) else { return .look }
            _ = try await bring(place, within: limit) { [self] in try await isMissing($0) }
            return try await isMissing(place) ? .isComing : .look
        } catch let error as SyncError {
            return .isUnknown("\(error)")
        } catch let error as AgentError {
            return .isUnknown("\(error)")
        }
    }

    /// Notes that a request got a file. If the other side has another version, the sync rises, and brings it first.
    func noteServed(_ path: RelativePath, of folder: String) {
        if let place = place(of: path, folder) { servedFeed.yield(place) }
    }

    private func renew(_ place: Place) async throws {
        guard let stamps = try await different(place), state.withLock({ $0.left[place] != stamps }) else { return }
        let hasRun = try await bring(place, within: Self.patience) { [self] in try await different($0) == stamps }
        guard hasRun, let after = try await different(place) else { return }
        state.withLock { state in
            if state.left.count > 1000 { state.left = [:] }
            state.left[place] = after
        }
    }

    /// Runs the sync at the class of a request, until a file was written or the time is over.
    ///
    /// - Returns: Whether whole runs ended before.
    private func bring(
        _ place: Place, within limit: Duration, while isWanting: @escaping @Sendable (Place) async throws -> Bool
    ) async throws -> Bool {
        guard let item = current, let record = try await item.record, !record.state.isEnded else { return false }
        let wanted = wanted
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                await wanted.wait(for: place.path)
                return false
            }
            group.addTask {
                try await Task.sleep(for: limit, tolerance: limit / 10)
                return false
            }
            group.addTask {
                // A run that goes on may have looked before the file was there.
                for _ in 0..<2 where try await isWanting(place) {
                    if try await item.record?.state != .running { try await item.runNow() }
                    try await item.raise(to: QoSLevel(.userInitiated))
                    _ = try await item.waitUntilFinished(promotes: false)
                }
                return true
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// The side of the sync that a file belongs to, and its path there.
    private func place(of path: RelativePath, _ folder: String) -> Place? {
        guard let settings, path != .root else { return nil }
        let whole = Array(folder.utf8) + [UInt8(ascii: "/")] + path.bytes
        for side in Side.allCases {
            let root = Array((side == .a ? settings.a : settings.b).utf8) + [UInt8(ascii: "/")]
            guard whole.starts(with: root) else { continue }
            let path = RelativePath(bytes: Array(whole.dropFirst(root.count)))
            // A mirror brings nothing to A.
            guard !(settings.mode == .mirror && side == .a), !settings.excludes.exclude(path, isFolder: false)
            else { return nil }
            return Place(path: path, side: side)
        }
        return nil
    }

    /// Whether a side lacks a file that the other one has.
    private func isMissing(_ place: Place) async throws -> Bool {
        guard let here = sides[place.side], let there = sides[place.side.other],
            try await here.status(of: place.path) == nil
        else { return false }
        return try await there.status(of: place.path)?.kind == .regular
    }

    /// The versions of a file that both sides have, if they differ by length or time; nil if they do not.
    private func different(_ place: Place) async throws -> [FileStamp]? {
        guard let here = try await sides[place.side]?.status(of: place.path), here.kind == .regular,
            let there = try await sides[place.side.other]?.status(of: place.path), there.kind == .regular,
            here.stamp.size != there.stamp.size || here.stamp.modified != there.stamp.modified
        else { return nil }
        return [here.stamp, there.stamp]
    }
}
