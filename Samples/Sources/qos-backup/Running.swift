internal import Backup
internal import Foundation
internal import QoSCore
internal import SampleCommand

extension CommandStatus {
    /// The command failed, or damage was found.
    static let failure = CommandStatus(code: 1)
    /// Done, but some entries could not be saved, restored or compared, or differ.
    static let incomplete = CommandStatus(code: 3)
}

extension CommandProcess {
    /// A command on a repository.
    static func backup(at qosClass: QoSClass) -> CommandProcess {
        CommandProcess(
            at: qosClass, stopped: "Stopped. Run the same command again: it goes on from what is written."
        ) { _ in .failure }
    }
}

extension RepositoryOptions {
    /// Opens the repository with the passphrase of the user.
    func open() throws -> Repository {
        try Repository.open(
            at: repository, passphrase: try Passphrase.read(file: passwordFile, confirming: false), before: Self.hook)
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
