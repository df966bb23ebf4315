internal import Backup

/// The settings of the backups that the service makes.
struct BackupSettings: Sendable, Equatable {
    /// The folder of the repository, absolute and without links, or its address.
    var repository: String
    /// The file whose first line is the passphrase.
    var passphraseFile: String
    /// The folders that are saved, absolute and without links.
    var folders: [String]
    /// Patterns that are left out, as in `BackupOptions`.
    var excludes: [String] = []
    /// Names of ignore files, as in `BackupOptions`.
    var ignoreFiles: [String] = []
    /// The time between two backups of a folder.
    var interval = Duration.seconds(86_400)
    /// The snapshots that a prune keeps; none are forgotten if it keeps nothing.
    var policy = RetentionPolicy()
    /// The time between two checks, and between two prunes.
    var checkInterval = Duration.seconds(86_400)
    /// The share of packs of which a check reads every byte, in percent.
    var checkShare = 1
    /// The folder below which restores write; nil if the service restores nothing.
    var restoreFolder: String?
}
