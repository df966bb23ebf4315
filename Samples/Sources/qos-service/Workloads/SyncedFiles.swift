internal import Glibc
internal import QoSCore
internal import QoSRuntime
internal import QoSWorkloads
internal import Sync
internal import Synchronization
internal import TreeScan

/// The sync as requests see it: its watches, and the files that requests wait for.
final class SyncedFiles: Sendable {
    /// The label of the item that runs after changes.
    static let label = "sync after changes"

    private let settings: SyncSettings?
    private let wanted = WantedFiles()
    private let item = Mutex<WorkloadItem?>(nil)
    private let folders: AsyncStream<[String]>
    private let feed: AsyncStream<[String]>.Continuation

    /// Makes it for a sync; nil for none.
    init(_ settings: SyncSettings?) {
        self.settings = settings
        (folders, feed) = AsyncStream.makeStream(of: [String].self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The workload of the sync.
    var workload: SyncWorkload {
        SyncWorkload(wanted: wanted) { [feed] _, _, folders in feed.yield(folders) }
    }

    /// Sets the item that runs after changes.
    func use(_ item: WorkloadItem) { self.item.withLock { $0 = item } }

    private var current: WorkloadItem? { item.withLock { $0 } }

    /// Watches the folders that each sync saw, until the task is cancelled. The framework watches the two roots alone.
    func watch() async throws {
        let queue = QoSProcess.scheduler?.makeQueue("sync-folders", level: QoSLevel(.userInitiated))
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [folders] in
                var watches = FolderWatches(on: queue) { changed.yield() }
                for await list in folders { await watches.watch(list) }
            }
            group.addTask {
                // A store that fails is asked again after the next change, and the sync from time to time goes on.
                for await _ in changes { try? await self.current?.noteFileChange() }
            }
            try await group.waitForAll()
        }
        try Task.checkCancellation()
    }

    // MARK: Requests

    /// Brings a file of one side before all others, if only the other side has it. The sync rises to userInitiated.
    ///
    /// - Parameters:
    ///   - path: The path below the folder.
    ///   - folder: The folder that the request is about.
    ///   - limit: The longest wait.
    /// - Returns: Whether the file waits for the sync still.
    func fetch(_ path: RelativePath, of folder: String, waitingUpTo limit: Duration) async throws -> Bool {
        guard let (place, side) = place(of: path, folder), isMissing(place, on: side) else { return false }
        guard let item = current, let record = try await item.record, !record.state.isEnded else { return false }
        let wanted = wanted
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await wanted.wait(for: place) }
            group.addTask { try await Task.sleep(for: limit, tolerance: limit / 10) }
            group.addTask { [self] in
                // A run that goes on may have looked before the file was there.
                for _ in 0..<2 where isMissing(place, on: side) {
                    if try await item.record?.state != .running { try await item.runNow() }
                    try await item.raise(to: QoSLevel(.userInitiated))
                    _ = try await item.waitUntilFinished(promotes: false)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        return isMissing(place, on: side)
    }

    /// The side of the sync that a file belongs to, and its path there.
    private func place(of path: RelativePath, _ folder: String) -> (RelativePath, Side)? {
        guard let settings, path != .root else { return nil }
        let whole = Array(folder.utf8) + [UInt8(ascii: "/")] + path.bytes
        for side in Side.allCases {
            let root = Array((side == .a ? settings.a : settings.b).utf8) + [UInt8(ascii: "/")]
            guard whole.starts(with: root) else { continue }
            // A mirror brings nothing to A.
            return settings.mode == .mirror && side == .a
                ? nil : (RelativePath(bytes: Array(whole.dropFirst(root.count))), side)
        }
        return nil
    }

    /// Whether a side lacks a file that the other one has.
    private func isMissing(_ path: RelativePath, on side: Side) -> Bool {
        guard let settings else { return false }
        let (here, there) = side == .a ? (settings.a, settings.b) : (settings.b, settings.a)
        return Self.kind(of: path, in: here) == nil && Self.kind(of: path, in: there) == .regular
    }

    private static func kind(of path: RelativePath, in folder: String) -> FileKind? {
        guard let root = try? RootFolder(folder), let number = try? root.descriptor(of: path, for: .status)
        else { return nil }
        defer { close(number) }
        return EntryStatus(descriptor: number)?.kind
    }
}
