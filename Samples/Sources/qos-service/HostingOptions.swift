internal import ArgumentParser
internal import Configuration

/// The options of the backups and the sync that the service hosts.
struct HostingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Back up to this repository of qos-backup.", valueName: "folder"), completion: .directory)
    var backupRepository: String?

    @Option(help: "The file whose first line is the repository's passphrase.", completion: .file())
    var backupPasswordFile: String?

    @Option(
        help: ArgumentHelp(
            "A folder to save; may be repeated. (default: the folder of the service)", valueName: "folder"),
        completion: .directory)
    var backupFolder: [String] = []

    @Option(
        help: ArgumentHelp(
            "Leave this out of the backups; a pattern as in a .gitignore file, may be repeated.", valueName: "pattern"))
    var backupExclude: [String] = []

    @Option(
        help: ArgumentHelp(
            "Leave out what files of this name say, such as .gitignore; may be repeated. (default: none)",
            valueName: "name"))
    var backupIgnoreFile: [String] = []

    @Option(help: "Seconds between two backups. (default: 86400)")
    var backupInterval: Int?

    @Option(help: "Seconds between two checks of the repository, and between two prunes. (default: 86400)")
    var checkInterval: Int?

    @Option(help: "The share of the repository of which a check reads every byte, in percent. (default: 1)")
    var checkShare: Int?

    @Option(help: "Keep this many last snapshots of each folder. Without any --keep option all are kept.")
    var keepLast: Int?

    @Option(help: "Keep the last snapshot of each of this many days that have one.")
    var keepDaily: Int?

    @Option(help: "The same for weeks.")
    var keepWeekly: Int?

    @Option(help: "The same for months.")
    var keepMonthly: Int?

    @Option(help: "The same for years.")
    var keepYearly: Int?

    @Option(
        help: ArgumentHelp("The folder below which POST /restore may write. (default: none)", valueName: "folder"),
        completion: .directory)
    var restoreFolder: String?

    @Option(help: ArgumentHelp("Keep this folder and --sync-b in step.", valueName: "folder"), completion: .directory)
    var syncA: String?

    @Option(
        help: ArgumentHelp(
            "The other folder of the sync, or the address of its agent: http://HOST:PORT or https://HOST.",
            valueName: "folder"),
        completion: .directory)
    var syncB: String?

    @Option(help: "If --sync-b is an address: the file with the agent's token.", completion: .file())
    var syncTokenFile: String?

    @Option(help: "two-way, or mirror: B becomes as A. (default: two-way)")
    var syncMode: String?

    @Option(help: "If both sides changed a file: keep-both, newer, a or b. (default: keep-both)")
    var syncConflict: String?

    @Option(help: "Refuse to remove more than this share of a side's entries, in percent. (default: 50)")
    var syncMaxDelete: Int?

    @Option(
        help: ArgumentHelp(
            "Leave out of the sync what matches this pattern of gitignore(5); may be repeated.", valueName: "pattern"))
    var syncExclude: [String] = []

    @Option(help: "Leave out of the sync what matches a pattern of this file, one a line.", completion: .file())
    var syncExcludeFrom: String?

    @Option(help: "Seconds between two looks at both folders, beside the watched changes. (default: 300)")
    var syncInterval: Int?

    @Option(
        help: ArgumentHelp("The folder of the sync's archives. (default: that of qos-sync)", valueName: "folder"),
        completion: .directory)
    var syncArchive: String?

    /// The given options by key.
    var values: [String: ConfigContent] {
        let texts = [
            "backupRepository": backupRepository, "backupPasswordFile": backupPasswordFile,
            "restoreFolder": restoreFolder, "syncA": syncA, "syncB": syncB, "syncTokenFile": syncTokenFile,
            "syncMode": syncMode,
            "syncConflict": syncConflict, "syncArchive": syncArchive, "syncExcludeFrom": syncExcludeFrom,
        ]
        let numbers = [
            "backupInterval": backupInterval, "checkInterval": checkInterval, "checkShare": checkShare,
            "keepLast": keepLast, "keepDaily": keepDaily, "keepWeekly": keepWeekly, "keepMonthly": keepMonthly,
            "keepYearly": keepYearly, "syncMaxDelete": syncMaxDelete, "syncInterval": syncInterval,
        ]
        var values = texts.compactMapValues { $0.map(ConfigContent.string) }
        values.merge(numbers.compactMapValues { $0.map(ConfigContent.int) }) { $1 }
        let lists = [
            "backupFolder": backupFolder, "backupExclude": backupExclude, "backupIgnoreFile": backupIgnoreFile,
            "syncExclude": syncExclude,
        ]
        for (key, list) in lists where !list.isEmpty { values[key] = .stringArray(list) }
        return values
    }
}
