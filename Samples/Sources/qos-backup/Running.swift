internal import Backup
internal import Foundation
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension CommandStatus {
    /// The command failed, or damage was found.
    static let failure = CommandStatus(code: 1)
    /// An argument that cannot be meant.
    static let wrongArguments = CommandStatus(code: 64)
    /// Done, but some entries could not be saved, restored or compared, or differ.
    static let incomplete = CommandStatus(code: 3)
}

extension CommandProcess {
    /// A command on a repository.
    static func backup(at qosClass: QoSClass) -> CommandProcess {
        CommandProcess(
            at: qosClass, stopped: "Stopped. Run the same command again: it goes on from what is written."
        ) { error in
            if error is ExcludeError { return .wrongArguments }
            guard let error = error as? BackupError, case .badAddress = error else { return .failure }
            return .wrongArguments
        }
    }
}

extension RepositoryOptions {
    /// Asks for the passphrase. Call it before the process takes over signals.
    ///
    /// - Parameter confirming: Whether a terminal is asked twice.
    func prepare(confirming: Bool = false) throws -> PreparedRepository {
        let source = Passphrase.Source(
            file: passwordFile, command: passwordCommand, variable: "QOS_BACKUP_PASSWORD",
            options: "--password-file or --password-command")
        return PreparedRepository(path: repository, passphrase: try Passphrase.read(source, confirming: confirming))
    }

    /// Ends the process at the point that a test named.
    static var hook: StorageHook? {
        guard let point = KillPoint("QOS_BACKUP_KILL_AT", in: ProcessInfo.processInfo.environment) else { return nil }
        return { call in
            point.reached(call.description)
            return 0
        }
    }
}

/// A repository that can be opened.
struct PreparedRepository: Sendable {
    let path: String
    let passphrase: [UInt8]

    /// Opens the repository with the passphrase of the user.
    func open() throws -> Repository {
        try Repository.open(at: path, passphrase: passphrase, before: RepositoryOptions.hook)
    }

    /// Finds a snapshot, and says if one of the future was passed over.
    func snapshot(_ name: String, of filter: SnapshotFilter, in repository: Repository) throws -> Snapshot {
        let snapshot = try repository.snapshot(named: name, of: filter)
        if name == "latest" { complainOfFuture(try repository.snapshots().snapshots.filter(filter.matches)) }
        return snapshot
    }

    /// Says which snapshots are of the future.
    func complainOfFuture(_ snapshots: [Snapshot]) {
        for snapshot in snapshots where snapshot.isOfFuture() {
            complain(
                "Snapshot \(snapshot.shortName) of \(time(snapshot.time)) is of the future: a clock was wrong. It does not "
                    + "count as the latest, and no rule counts it. Remove it with 'forget \(snapshot.shortName)'.")
        }
    }
}
