internal import Sync
internal import SyncAgent
internal import TreeScan

/// The settings of the sync that the service keeps up.
struct SyncSettings: Sendable, Equatable {
    /// The first folder, absolute and without links.
    var a: String
    /// The second folder, absolute and without links, or the address of its agent.
    var b: String
    /// The agent of the second folder; nil for a folder of this machine.
    var agent: AgentAddress?
    /// The file with the agent's token.
    var tokenFile: String?
    var mode = SyncMode.twoWay
    var policy = ConflictPolicy.keepBoth
    /// The share of a side's entries that may be removed, in percent.
    var maximumDeletions = 50
    /// The folder of the archives; nil for that of the command `qos-sync`.
    var archive: String?
    /// The entries that stay as they are.
    var excludes = ExcludeRules.none
    /// The time between two looks at everything, beside the changes that are watched.
    var interval = Duration.seconds(300)

    /// The settings as the workload takes them.
    var parameters: SyncWorkload.Parameters {
        SyncWorkload.Parameters(
            a: a, b: b, mode: mode, policy: policy, maximumDeletions: maximumDeletions, archive: archive,
            excludes: excludes.isEmpty ? nil : excludes.patterns)
    }

    /// The folders of this machine.
    var folders: [String] { agent == nil ? [a, b] : [a] }

    /// The first side as requests look at it.
    var sideA: SyncedSide { .folder(a) }

    /// The second side as requests look at it.
    var sideB: SyncedSide {
        guard let agent else { return .folder(b) }
        let settings = self
        return .agent(AgentLook(at: agent, for: a) { try Self.token(settings) })
    }

    /// Reads the token of the agent. It is read again by each run, so a new one needs no restart.
    ///
    /// - Throws: `AgentError`, for example for a file that is open to other users.
    static func token(_ settings: SyncSettings?) throws -> String {
        try AgentToken.load(settings?.tokenFile ?? "", makes: false)
    }
}
