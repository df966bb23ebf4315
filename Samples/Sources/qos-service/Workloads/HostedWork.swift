internal import Backup
internal import QoSWorkloads
internal import SampleCommand
internal import Sync

/// The backups and the sync of the service: their workloads, and the items that each start submits.
struct HostedWork: Sendable {
    /// The time for which the sync waits for further changes after one.
    static let settling = Duration.seconds(1)

    /// The conditions of the scrub, which nobody waits for: those of the other work, and a machine with time.
    static let discretionary = IndexingWorkload.conditions.union([
        .foregroundInTime, .pressure(.io, below: .severe),
    ])

    /// The names of the workloads whose items the settings decide about.
    static let names: Set<WorkloadName> = [
        BackupWorkload.name, CheckWorkload.name, PruneWorkload.name, SyncWorkload.name,
    ]

    let backup: BackupSettings?
    let sync: SyncSettings?
    let files: SyncedFiles
    private let killPoint: KillPoint?
    private let activity: ActivityLog?
    private let saved: @Sendable () -> Void

    /// Makes the work.
    ///
    /// - Parameters:
    ///   - killPoint: The point at which a test kills the process.
    ///   - activity: Takes what backups and syncs did.
    ///   - conflicts: Looks for conflicts after a sync.
    ///   - saved: Called after each backup.
    init(
        _ settings: ServiceSettings, killPoint: KillPoint? = nil, activity: ActivityLog? = nil,
        conflicts: OpenConflicts? = nil, saved: @escaping @Sendable () -> Void = {}
    ) {
        self.activity = activity
        self.saved = saved
        backup = settings.backup
        sync = settings.sync
        files = SyncedFiles(settings.sync) { report, time in
            activity?.note(report, after: time)
            if report.copied + report.removed + report.renamed + report.conflicts.count > 0 { conflicts?.look() }
        }
        self.killPoint = killPoint
    }

    /// The key of all that must not run beside another such item: checks, prunes and restores of a repository. A
    /// restore that waits for one of the others raises it.
    static func key(of repository: String) -> ConcurrencyKey { ConcurrencyKey("repository \(repository)") }

    /// Kills the process before a call that changes a file of a repository or of a restore.
    private var hook: StorageHook? {
        guard let killPoint else { return nil }
        return { call in
            killPoint.reached(call.description)
            return 0
        }
    }

    /// The workloads. Those that the settings do not name are there, too, so that items of earlier starts can end.
    var workloads: [any Workload] {
        let file = PassphraseFile(backup?.passphraseFile ?? "")
        let passphrase: @Sendable (String) throws -> [UInt8] = { _ in try file.read() }
        let hook = hook
        let (activity, saved) = (activity, saved)
        return [
            BackupWorkload(
                before: hook,
                ended: {
                    activity?.note($0)
                    saved()
                }, passphrase: passphrase), CheckWorkload(before: hook, passphrase: passphrase),
            PruneWorkload(before: hook, passphrase: passphrase), RestoreWorkload(before: hook, passphrase: passphrase),
            files.workload { [killPoint] step in killPoint?.reached("sync.\(step.rawValue)") },
        ]
    }

    /// The repeating items, each with a label of its own.
    func requests() throws -> [WorkloadRequest] {
        try backupRequests() + syncRequests()
    }

    private func backupRequests() throws -> [WorkloadRequest] {
        guard let backup else { return [] }
        let retry = RetryPolicy(maximumAttempts: 5, base: .seconds(10), limit: backup.interval / 4)
        let key = Self.key(of: backup.repository)
        var requests = try backup.folders.map { folder in
            try Self.request(
                for: BackupWorkload.self,
                .init(
                    folder: folder, repository: backup.repository, excludes: backup.excludes,
                    ignoreFiles: backup.ignoreFiles),
                schedule: .every(backup.interval), retry: retry, concurrency: ConcurrencyKey("backup \(folder)"),
                label: "backup of \(folder)")
        }
        requests.append(
            try Self.request(
                for: CheckWorkload.self, .init(repository: backup.repository, percent: backup.checkShare),
                schedule: .every(backup.checkInterval, tolerance: backup.checkInterval / 2), retry: retry,
                conditions: Self.discretionary, concurrency: key, label: "check of the repository"))
        if !backup.policy.keepsNothing {
            requests.append(
                try Self.request(
                    for: PruneWorkload.self, .init(repository: backup.repository, policy: backup.policy),
                    schedule: .every(backup.checkInterval, tolerance: backup.checkInterval / 2), retry: retry,
                    concurrency: key, label: "prune of the repository"))
        }
        return requests
    }

    private func syncRequests() throws -> [WorkloadRequest] {
        guard let sync else { return [] }
        let one = ConcurrencyKey("sync \(sync.a) \(sync.b)")
        let retry = RetryPolicy(maximumAttempts: 5, base: .seconds(2), limit: max(.seconds(2), sync.interval))
        let trigger = FileEventTrigger(paths: sync.folders, settling: Self.settling)
        return [
            try Self.request(
                for: SyncWorkload.self, sync.parameters, schedule: .onFileEvents(trigger), retry: retry,
                concurrency: one, label: SyncedFiles.label),
            try Self.request(
                for: SyncWorkload.self, sync.parameters, schedule: .every(sync.interval), retry: retry,
                concurrency: one, label: "sync from time to time"),
        ]
    }

    private static func request<Work: Workload>(
        for work: Work.Type, _ parameters: Work.Parameters, schedule: WorkloadSchedule, retry: RetryPolicy,
        conditions: Set<WorkloadCondition> = IndexingWorkload.conditions, concurrency: ConcurrencyKey, label: String
    ) throws -> WorkloadRequest {
        try WorkloadRequest(
            for: work, parameters, level: .background, schedule: schedule, retry: retry, conditions: conditions,
            unique: .key(label), concurrency: concurrency, label: label)
    }

    /// Returns the insertions that bring the items of earlier starts to the settings. An item whose request did not
    /// change stays as it is. A new backup also runs at once.
    ///
    /// - Parameter known: The unfinished items of ``names``.
    func changes(from known: [WorkloadRecord]) throws -> (requests: [WorkloadRequest], obsolete: [WorkloadItemID]) {
        let wanted = try requests()
        var requests: [WorkloadRequest] = []
        for var request in wanted {
            let old = known.first { $0.request.label == request.label }
            if let old, old.request.isSame(as: request) { continue }
            request.unique?.onDuplicate = .replace
            requests.append(request)
            guard old == nil, request.name == BackupWorkload.name, let label = request.label else { continue }
            var first = request
            first.schedule = .now
            first.label = "first \(label)"
            first.unique = .key("first \(label)")
            requests.append(first)
        }
        let labels = Set(wanted.compactMap(\.label))
        let obsolete = known.filter { record in
            guard let label = record.request.label, record.request.schedule.repeats else { return false }
            return !labels.contains(label)
        }
        return (requests, obsolete.map(\.id))
    }
}

extension WorkloadRequest {
    /// Whether two requests ask for the same work at the same times.
    fileprivate func isSame(as other: WorkloadRequest) -> Bool {
        parameters == other.parameters && schedule == other.schedule && conditions == other.conditions
    }
}
