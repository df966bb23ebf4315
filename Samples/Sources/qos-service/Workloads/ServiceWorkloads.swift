internal import Indexing
internal import QoSCore
internal import QoSObservability
internal import QoSSQLiteStore
internal import SampleCommand

/// The background work of the service: its store, its host, and the items that each start submits.
struct ServiceWorkloads: Sendable {
    /// The time for which a running pass waits for a condition before it gives its place back.
    private static let patience = Duration.seconds(2)
    /// The time that a pass has to end after a stop. A step takes about 50 ms.
    private static let endGrace = Duration.milliseconds(600)
    /// The items of the background that run at the same time: a long backup must not hold up the sync and the indexing.
    private static let places = 4
    /// The time for which the store keeps ended items.
    private static let memory = Duration.seconds(7 * 24 * 3600)

    let host: WorkloadHost
    private let store: any WorkloadStore
    private let index: SearchIndex
    private let interval: Duration
    private let hosted: HostedWork
    private let conflicts: OpenConflicts?
    private let failures: AsyncStream<any Error>

    /// Makes the host. It runs items during `run`.
    ///
    /// - Parameters:
    ///   - index: The index that the passes fill.
    ///   - interval: The time between the starts of two passes.
    ///   - hosted: The backups and the sync.
    ///   - conflicts: Looks for conflicts of the sync.
    ///   - killPoint: The point at which a test kills the process.
    ///   - store: The store of the items.
    ///   - governor: Judges the conditions of the items; without one all hold.
    ///   - observers: Receive the host's events.
    init(
        index: SearchIndex,
        interval: Duration,
        hosted: HostedWork,
        conflicts: OpenConflicts? = nil,
        killPoint: KillPoint? = nil,
        store: any WorkloadStore,
        on scheduler: any WorkloadScheduler,
        governor: ServiceGovernor?,
        observers: [any WorkloadObserver]
    ) throws {
        self.index = index
        self.interval = interval
        self.hosted = hosted
        self.conflicts = conflicts
        self.store = store
        var configuration = WorkloadHost.Configuration()
        configuration.name = "qos-service"
        configuration.conditions = MonitoredConditions(governor?.monitor)
        configuration.patience = Self.patience
        configuration.endGrace = Self.endGrace
        configuration.places = [.background: Self.places]
        configuration.files = fileEvents()
        for observer in observers { configuration.addObserver(observer) }
        let (failures, failed) = AsyncStream.makeStream(of: (any Error).self)
        self.failures = failures
        let indexing = IndexingWorkload(
            index: index, giveUp: { failed.yield($0) }, reached: { killPoint?.reached($0) })
        host = try WorkloadHost(
            store: store, on: scheduler, workloads: [indexing] + hosted.workloads, configuration: configuration)
    }

    /// Submits the items and runs them until the task is cancelled.
    ///
    /// - Throws: `CancellationError`, an error of the store at the start, or that of an index that cannot be made anew.
    func run() async throws {
        let rescan = try await submitWhenPossible()
        let (host, failures, files) = (host, failures, hosted.files)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await host.run() }
            group.addTask { try await watchIndex(rescan) }
            group.addTask { try await files.watch() }
            if let conflicts { group.addTask { try await conflicts.run() } }
            group.addTask { for await error in failures { throw error } }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    /// Submits the items. Waits while the disk is full, or while another program has the store locked: searches go on.
    private func submitWhenPossible() async throws -> WorkloadItem {
        var told: SQLiteStoreError?
        while true {
            do {
                return try await submit()
            } catch let error as SQLiteStoreError {
                switch error {
                case .diskFull, .locked: break
                default: throw error
                }
                if error != told { complain("Indexing waits: \(error)") }
                told = error
                try await Task.sleep(for: .seconds(2), tolerance: .milliseconds(500))
            }
        }
    }

    /// Submits a pass for now, and one for each interval after it. Items of an earlier start stay: they go on.
    ///
    /// - Returns: The repeating item.
    func submit() async throws -> WorkloadItem {
        let now = SystemWorkloadClock().now
        try await store.removeEnded(before: now.advanced(by: .zero - Self.memory))
        // This process has the lock of the index's folder, so no other host lives: its leases need not run out. A kill is
        // no failure of the work, so it costs no attempt and no delay.
        for sighting in try await store.leases() {
            try await store.end(sighting.lease, .deferred(reason: "the service was killed", delay: nil), at: now)
        }
        let unfinished = Set(WorkloadState.allCases.filter { !$0.isEnded })
        let repeating = try await store.records(
            matching: WorkloadQuery(states: unfinished, name: IndexingWorkload.name)
        )
        .last { $0.request.label == "rescan" }
        let parameters = IndexingWorkload.Parameters(folder: index.status.folder)
        let retry = RetryPolicy(maximumAttempts: 5, base: .seconds(1), limit: max(.seconds(1), interval))
        let one = ConcurrencyKey("indexing")
        let first = try WorkloadRequest(
            for: IndexingWorkload.self, parameters, level: .background, retry: retry,
            conditions: IndexingWorkload.conditions, unique: .key("pass at the start"), concurrency: one,
            label: "pass at the start")
        // The interval may be another one than at the last start.
        let isSame = repeating?.request.schedule == .every(interval)
        let rescan = try WorkloadRequest(
            for: IndexingWorkload.self, parameters, level: .background, schedule: .every(interval), retry: retry,
            dependencies: [.label("pass at the start")], onFailedParent: .runAnyway,
            conditions: IndexingWorkload.conditions,
            unique: .key("rescan", onDuplicate: isSame ? .keep : .replace), concurrency: one, label: "rescan")
        let items = try await host.submit([first, rescan])
        try await submitHosted()
        return items[1]
    }

    /// Brings the items of backup and sync to the settings.
    private func submitHosted() async throws {
        let waiting = WorkloadQuery(states: Set(WorkloadState.allCases.filter { !$0.isEnded }))
        func known() async throws -> [WorkloadRecord] {
            try await store.records(matching: waiting).filter { HostedWork.names.contains($0.request.name) }
        }
        let (requests, obsolete) = try hosted.changes(from: try await known())
        for id in obsolete { try await host[id].cancel(because: "the settings do not name it any more") }
        if !requests.isEmpty { _ = try await host.submit(requests) }
        if let sync = try await known().last(where: { $0.request.label == SyncedFiles.label }) {
            hosted.files.use(host[sync.id])
        }
    }

    /// Starts a pass at once when the index has to be made anew.
    private func watchIndex(_ rescan: WorkloadItem) async throws {
        while true {
            try await Task.sleep(for: .seconds(1), tolerance: .milliseconds(200))
            // A store that fails is asked again.
            guard index.needsRebuild, (try? await rescan.record?.state) == .scheduled else { continue }
            try? await rescan.runNow()
        }
    }

    /// The state of the workloads, for people.
    struct Report: Sendable {
        /// The reason why the indexing pauses; nil if it does not.
        var pause: String?
        /// The trouble of the store, and what to do; nil while it works.
        var trouble: String?
        /// The reason why the last sync failed; nil if it did not. It names files of this machine.
        var syncTrouble: String?
    }

    /// Looks at the store.
    var report: Report {
        get async {
            do {
                let items = try await host.snapshot(limit: 100).items
                let item = items.first { $0.record.request.name == IndexingWorkload.name && $0.isDeferred }
                return Report(
                    pause: item.map { $0.pause ?? $0.record.life.reason },
                    trouble: host.storeFailure.map { StoreTrouble.text($0) }, syncTrouble: hosted.files.trouble)
            } catch is CancellationError {
                return Report()
            } catch {
                return Report(trouble: StoreTrouble.text(error))
            }
        }
    }
}
