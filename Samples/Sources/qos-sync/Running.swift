internal import QoSCore
internal import SampleCommand
internal import Sync
internal import TreeScan

extension CommandStatus {
    /// Conflicts, or entries that stay as they are.
    static let leftovers = CommandStatus(code: 1)
    /// Wrong arguments.
    static let wrongArguments = CommandStatus(code: 2)
    /// Refused or failed.
    static let failure = CommandStatus(code: 3)
}

extension CommandProcess {
    /// The sync, at class background.
    static let sync = CommandProcess(
        at: .background, stopped: "Stopped. Run the same command again: what is done stays done."
    ) { error in
        switch error {
        case SyncError.overlapping, is ExcludeError: .wrongArguments
        default: .failure
        }
    }

    /// The agent. Another machine waits for its answers.
    static let agent = CommandProcess(at: .utility, stopped: "Stopped.") { _ in .failure }
}
