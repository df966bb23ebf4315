internal import Backup
internal import HTTPTypes
internal import QoSCore
internal import QoSWorkloads
internal import SafeFiles
internal import Synchronization
internal import TreeScan

/// Lists snapshots, and submits restores.
final class RestoreRequests: Sendable {
    private let settings: BackupSettings
    private let host: WorkloadHost
    /// Opened once: the passphrase costs time and memory on purpose.
    private let repository = Mutex<Repository?>(nil)
    /// The last list of snapshots, for questions that come every few seconds.
    private let listed = Mutex<(time: ContinuousClock.Instant, snapshots: [Snapshot])?>(nil)

    /// Makes the requests of a repository.
    init(_ settings: BackupSettings, host: WorkloadHost) {
        self.settings = settings
        self.host = host
    }

    private func open() throws -> Repository {
        if let repository = repository.withLock({ $0 }) { return repository }
        let opened = try Repository.open(
            at: settings.repository, passphrase: try PassphraseFile(settings.passphraseFile).read())
        repository.withLock { $0 = opened }
        return opened
    }

    /// Returns the snapshots, the oldest first, and the damage of others.
    ///
    /// - Throws: `BackupError`.
    func snapshots() throws -> (snapshots: [Snapshot], problems: [String]) { try open().snapshots() }

    /// Returns the snapshots as of the last ten seconds, the oldest first.
    ///
    /// - Throws: `BackupError`.
    func recentSnapshots() throws -> [Snapshot] {
        if let (time, snapshots) = listed.withLock({ $0 }), ContinuousClock.now - time < .seconds(10) {
            return snapshots
        }
        let snapshots = try open().snapshots().snapshots
        listed.withLock { $0 = (.now, snapshots) }
        return snapshots
    }

    /// Forgets the list, after a backup.
    func noteChange() { listed.withLock { $0 = nil } }

    /// Opens the contents of the snapshots. Blocks the thread on the index of the repository.
    ///
    /// - Throws: `BackupError`.
    func reader() throws -> SnapshotReader { try SnapshotReader(try open()) }

    /// Returns a snapshot by the first digits of its name, or the last one for `latest`.
    ///
    /// - Throws: `Refusal` if there is none, `BackupError`.
    func snapshot(named name: String) throws -> Snapshot {
        do {
            return try open().snapshot(named: name)
        } catch let error as BackupError {
            if case .latestIsAmbiguous = error {
                throw Refusal(status: .conflict, message: "\(error) /snapshots lists them.")
            }
            guard case .unknownSnapshot(_, let matches) = error else { throw error }
            throw Refusal(
                status: .notFound,
                message: "\(matches) snapshots begin with \"\(name.prefix(64))\". Choose one of /snapshots, or latest.")
        }
    }

    /// Submits a restore at userInitiated. If a check or a prune has the repository, the restore raises it.
    ///
    /// - Parameters:
    ///   - name: The first digits of the snapshot's name, or `latest`.
    ///   - path: The entry to restore; the root for all.
    ///   - target: The folder to write to, below that of the settings.
    ///   - replaces: Whether files that are there, and are others, are replaced.
    /// - Throws: `Refusal`, `BackupError`, and errors of the store.
    func submit(
        _ name: String, path: RelativePath, target: RelativePath, replaces: Bool
    ) async throws -> WorkloadItem {
        guard let folder = settings.restoreFolder else {
            throw Refusal(
                status: .forbidden,
                message: "This service restores nothing. Start it with --restore-folder, below which it may write.")
        }
        guard String(validating: target.bytes, as: UTF8.self) != nil else { throw ParameterError.notBelow("target") }
        // The restore reads backslashes of a text as `PathText` does. Those of a request are parts of names.
        let place = RestoreTarget(below: folder, path: SafeFiles.PathText.text(target.bytes))
        do {
            try place.check()
        } catch let failure as RestoreTarget.Failure {
            throw Refusal(status: .badRequest, message: failure.description)
        }
        let snapshot = try snapshot(named: name)
        let whole = snapshot.id?.description ?? name
        let parameters = RestoreWorkload.Parameters(
            repository: settings.repository, snapshot: whole, path: path,
            target: place, replaces: replaces)
        let request = try WorkloadRequest(
            for: RestoreWorkload.self, parameters, level: QoSLevel(.userInitiated), retry: .never,
            concurrency: HostedWork.key(of: settings.repository), label: "restore of \(snapshot.shortName)")
        return try await host.submit([request])[0]
    }
}
