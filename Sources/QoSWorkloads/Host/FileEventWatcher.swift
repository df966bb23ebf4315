internal import QoSCore
internal import QoSKernel

/// Watches the paths of a store's items on file events, and tells the store of their changes.
///
/// One task does all of it: ``run()``. Event sources and hints only record a change and wake the task.
///
/// Threading: any thread; `run` once.
final class FileEventWatcher: Sendable {
    private struct Inbox {
        var changes: [String: FolderChange] = [:]
        var isLookWanted = true
        var isClosed = false
    }

    /// The shortest time between two looks into the store after hints.
    static let lookInterval = Duration.seconds(1)
    /// The shortest time between two notes of changes for an item.
    private static let shortestPause = Duration.milliseconds(50)

    private let source: any FileEventSource
    private let names: Set<WorkloadName>
    private let services: AttemptServices
    private let wakeSignal: WakeSignal
    private let pollInterval: Duration
    private let inbox = Lock(Inbox())
    /// Tells the host that an item may be due.
    private let noted: @Sendable () -> Void

    init(
        _ source: any FileEventSource, of names: Set<WorkloadName>, _ services: AttemptServices,
        _ scheduler: any WorkloadScheduler, pollInterval: Duration, noted: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.names = names
        self.services = services
        self.pollInterval = pollInterval
        self.noted = noted
        wakeSignal = WakeSignal(services.clock, scheduler, at: WorkloadHost.controlClass)
    }

    /// Notes that the items of the store may have changed.
    func itemsMayHaveChanged() {
        let isNew = inbox.withLock { inbox in
            defer { inbox.isLookWanted = true }
            return !inbox.isLookWanted
        }
        if isNew { wakeSignal.wake() }
    }

    /// Ends ``run()``.
    func close() {
        inbox.withLock { $0.isClosed = true }
        wakeSignal.wake()
    }

    private func happened(_ change: FolderChange, in folder: String) {
        let isClosed = inbox.withLock { inbox in
            inbox.changes[folder, default: FolderChange()].merge(change)
            return inbox.isClosed
        }
        if !isClosed { wakeSignal.wake() }
    }

    /// What the task knows.
    private struct Watching {
        struct Entry {
            var trigger: FileEventTrigger
            /// The monotonic time of the last note of a change.
            var lastNote: Duration?
            /// Whether a change is to be noted.
            var hasChanged = false
        }

        var items: [WorkloadItemID: Entry] = [:]
        var paths: [String: WatchedPath] = [:]
        var watches: [String: any FolderWatch] = [:]
        /// Folders that cannot be watched, and the signatures of the paths that need them.
        var unwatched: Set<String> = []
        var signatures: [String: UInt64?] = [:]
        var nextPoll: Duration?
        var nextLook: Duration?
        var hasLooked = false
    }

    func run() async {
        var watching = Watching()
        while !inbox.withLock({ $0.isClosed }) {
            await wakeSignal.wait(until: await step(&watching))
        }
        for watch in watching.watches.values { watch.cancel() }
        wakeSignal.close()
    }

    /// Does all that can be done now.
    ///
    /// - Returns: the time by which another step has something to do; `nil` to wait for a wake-up alone.
    private func step(_ watching: inout Watching) async -> Duration? {
        do {
            let wait = try await lookForItems(&watching)
            receive(&watching)
            await watch(&watching)
            await poll(&watching)
            let next = try await note(&watching)
            return [wait, next, watching.nextPoll].compactMap { $0 }.min()
        } catch {
            services.observe(.storeFailed("file events: \(error)"))
            inbox.withLock { $0.isLookWanted = true }
            return services.clock.elapsed + Self.lookInterval
        }
    }

    // MARK: Items

    /// Reads the items on file events, if there was a hint.
    ///
    /// - Returns: the time of the next look that is wanted.
    private func lookForItems(_ watching: inout Watching) async throws -> Duration? {
        guard inbox.withLock({ $0.isLookWanted }) else { return nil }
        let now = services.clock.elapsed
        if let next = watching.nextLook, next > now { return next }
        watching.nextLook = now + Self.lookInterval
        inbox.withLock { $0.isLookWanted = false }
        let open = Set(WorkloadState.allCases.filter { !$0.isEnded })
        var found: [WorkloadItemID: Watching.Entry] = [:]
        var query = WorkloadQuery(states: open, onFileEvents: true)
        while true {
            let page = try await services.store.records(matching: query)
            for record in page {
                guard names.contains(record.request.name), case .onFileEvents(let trigger) = record.request.schedule
                else { continue }
                var entry = watching.items[record.id] ?? Watching.Entry(trigger: trigger)
                // An update may have changed it.
                entry.trigger = trigger
                // Nobody knows what has changed while no host watched.
                if !watching.hasLooked, record.request.catchUp != .skip { entry.hasChanged = true }
                found[record.id] = entry
            }
            guard page.count == query.limit, let last = page.last else { break }
            query.after = last.id
        }
        watching.hasLooked = true
        watching.items = found
        let wanted = Set(found.values.flatMap { $0.trigger.paths.map(WatchedPath.normalized(_:)) })
        watching.paths = watching.paths.filter { wanted.contains($0.key) }
        for path in wanted where watching.paths[path] == nil { watching.paths[path] = look(at: path) }
        return nil
    }

    private func look(at path: String) -> WatchedPath { WatchedPath(path) { source.kind(of: $0) } }

    private func changed(_ path: String, _ watching: inout Watching) {
        for (id, entry) in watching.items
        where entry.trigger.paths.contains(where: { WatchedPath.normalized($0) == path }) {
            watching.items[id]?.hasChanged = true
        }
    }

    // MARK: Folders

    /// Takes the changes that the sources have left.
    private func receive(_ watching: inout Watching) {
        let changes = inbox.withLock { inbox in
            defer { inbox.changes = [:] }
            return inbox.changes
        }
        for (folder, change) in changes {
            for outdated in WatchedPath.outdated(by: change, in: folder, among: watching.watches.keys) {
                watching.watches.removeValue(forKey: outdated)?.cancel()
                for (path, watched) in watching.paths where watched.needs.contains(.init(folder: outdated, name: nil)) {
                    changed(path, &watching)
                }
            }
            for (path, watched) in watching.paths {
                switch watched.effect(of: change, in: folder) {
                case .none: continue
                case .look: break
                case .changed: changed(path, &watching)
                }
                lookAgain(at: path, &watching)
            }
        }
    }

    private func lookAgain(at path: String, _ watching: inout Watching) {
        let new = look(at: path)
        if new.kind != watching.paths[path]?.kind { changed(path, &watching) }
        watching.paths[path] = new
    }

    /// Watches the folders that the paths need, and no others.
    private func watch(_ watching: inout Watching) async {
        // A path may change between the look and the begin of the watch, which only a second look finds. A path that
        // changes all the time is looked at again after its next event.
        for _ in 0..<10 {
            let wanted = Set(watching.paths.values.flatMap { $0.needs.map(\.folder) })
            for folder in watching.watches.keys where !wanted.contains(folder) {
                watching.watches.removeValue(forKey: folder)?.cancel()
            }
            watching.unwatched.formIntersection(wanted)
            let missing = wanted.filter { watching.watches[$0] == nil && !watching.unwatched.contains($0) }.sorted()
            guard !missing.isEmpty else { break }
            for folder in missing { await begin(folder, &watching) }
            for (path, watched) in watching.paths where watched.needs.contains(where: { missing.contains($0.folder) }) {
                lookAgain(at: path, &watching)
            }
        }
        guard !watching.unwatched.isEmpty else {
            (watching.signatures, watching.nextPoll) = ([:], nil)
            return
        }
        let polled = watching.paths.filter { $0.value.needs.contains { watching.unwatched.contains($0.folder) } }.keys
        watching.signatures = watching.signatures.filter { polled.contains($0.key) }
        for path in polled where watching.signatures[path] == nil {
            watching.signatures.updateValue(source.signature(of: path), forKey: path)
        }
        watching.nextPoll = watching.nextPoll ?? services.clock.elapsed + pollInterval
    }

    private func begin(_ folder: String, _ watching: inout Watching) async {
        do {
            watching.watches[folder] = try await source.watch(folder: folder) { [weak self] change in
                self?.happened(change, in: folder)
            }
        } catch {
            // A folder that is gone meanwhile is no folder to watch: the look that follows says so.
            guard source.kind(of: folder) == .folder else { return }
            watching.unwatched.insert(folder)
            services.observe(.folderNotWatched(folder, because: "\(error)", lookingEvery: pollInterval))
        }
    }

    /// Looks at the paths that cannot be watched, and tries to watch them again.
    private func poll(_ watching: inout Watching) async {
        guard let next = watching.nextPoll, next <= services.clock.elapsed else { return }
        watching.nextPoll = services.clock.elapsed + pollInterval
        for folder in watching.unwatched.sorted() {
            // Without a second notice.
            let watch = try? await source.watch(folder: folder) { [weak self] change in
                self?.happened(change, in: folder)
            }
            if let watch {
                watching.watches[folder] = watch
                watching.unwatched.remove(folder)
            }
        }
        for (path, old) in watching.signatures {
            let new = source.signature(of: path)
            guard new != old else { continue }
            watching.signatures.updateValue(new, forKey: path)
            changed(path, &watching)
            lookAgain(at: path, &watching)
        }
        await watch(&watching)
    }

    // MARK: The store

    /// Tells the store of changes: for each item at once, and then at most four times in its settling time.
    ///
    /// - Returns: the time of the next note.
    private func note(_ watching: inout Watching) async throws -> Duration? {
        var next: Duration?
        for (id, entry) in watching.items where entry.hasChanged {
            let now = services.clock.elapsed
            let pause = max(Self.shortestPause, entry.trigger.settling / 4)
            if let last = entry.lastNote, last + pause > now {
                next = min(next ?? last + pause, last + pause)
                continue
            }
            // A change from now on is a new one.
            watching.items[id]?.hasChanged = false
            watching.items[id]?.lastNote = now
            do {
                try await services.store.noteFileChange(for: id, at: services.clock.now)
                noted()
            } catch WorkloadStoreError.alreadyEnded, WorkloadStoreError.unknownItem {
                watching.items[id] = nil
                inbox.withLock { $0.isLookWanted = true }
            } catch {
                watching.items[id]?.hasChanged = true
                throw error
            }
        }
        return next
    }
}
