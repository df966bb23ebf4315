internal import Sync

/// The settings of the sync that the service keeps up.
struct SyncSettings: Sendable, Equatable {
    /// The first folder, absolute and without links.
    var a: String
    /// The second folder, absolute and without links.
    var b: String
    var mode = SyncMode.twoWay
    var policy = ConflictPolicy.keepBoth
    /// The share of a side's entries that may be removed, in percent.
    var maximumDeletions = 50
    /// The folder of the archives; nil for that of the command `qos-sync`.
    var archive: String?
    /// The time between two looks at everything, beside the changes that are watched.
    var interval = Duration.seconds(300)

    /// The settings as the workload takes them.
    var parameters: SyncWorkload.Parameters {
        SyncWorkload.Parameters(
            a: a, b: b, mode: mode, policy: policy, maximumDeletions: maximumDeletions, archive: archive)
    }
}
