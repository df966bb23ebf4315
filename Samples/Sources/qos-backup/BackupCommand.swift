internal import ArgumentParser
internal import Backup
internal import Foundation
internal import SafeFiles
internal import SampleCommand
internal import TreeScan

/// `qos-backup`: the commands on a repository.
@main
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qos-backup",
        abstract: "Saves folders to an encrypted repository, and gives them back.",
        discussion: """
            A repository may be in storage that speaks S3: -r s3:https://HOST[:PORT]/BUCKET/PREFIX, with the keys in \
            AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_REGION.

            The passphrase comes from --password-file, from the output of --password-command, from the environment \
            variable QOS_BACKUP_PASSWORD, from the terminal, or from the first line of the standard input. Nobody can \
            restore without it.

            A byte of a name that is no text is shown as \\xE9, and may be typed so in paths and patterns.

            A run that is killed leaves nothing to repair or to unlock: run the same command again.

            Exit codes: 0 done; 1 failed, or damage was found; 3 done, but some entries could not be saved, restored \
            or compared, or differ; 64 wrong arguments; 128 and the signal's number after a signal.
            """,
        subcommands: [
            Init.self, Save.self, Snapshots.self, List.self, Find.self, Diff.self, Dump.self, Restore.self, Verify.self,
            Check.self, Forget.self, Prune.self, Keys.self,
        ]
    )

    static func main() {
        CommandProcess.prepareStreams()
        main(CommandArguments.current)
    }
}

/// The repository and its passphrase.
struct RepositoryOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: "The folder of the repository, or s3:https://HOST/BUCKET/PREFIX.",
        completion: .directory)
    var repository: String

    @Option(help: "A file, or a pipe, whose first line is the passphrase.", completion: .file())
    var passwordFile: String?

    @Option(help: "A command of the shell; the first line of its output is the passphrase.")
    var passwordCommand: String?

    func validate() throws {
        guard PathText.bytes(repository) == Array(repository.utf8) else {
            throw ValidationError(
                "The path of the repository is no UTF-8 text: \(repository). Rename the folder, or reach it by a link.")
        }
        guard passwordFile == nil || passwordCommand == nil else {
            throw ValidationError("Give one of --password-file and --password-command.")
        }
    }
}

/// The snapshots that count.
struct FilterOptions: ParsableArguments {
    @Option(help: "Only snapshots of this machine.")
    var host: String?

    @Option(help: "Only snapshots of this folder. May be repeated: those with all of them.", completion: .directory)
    var folder: [String] = []

    @Option(help: "Only snapshots with this tag. May be repeated: those with all of them.")
    var tag: [String] = []

    var filter: SnapshotFilter {
        var filter = SnapshotFilter()
        filter.host = host
        filter.folders = folder.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        filter.tags = tag
        return filter
    }
}

/// What a backup leaves out.
struct ExcludeOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Leave this out; a pattern as in a .gitignore file, may be repeated.", valueName: "pattern"))
    var exclude: [String] = []

    @Option(help: "Leave out what matches a pattern of this file, one a line.", completion: .file())
    var excludeFrom: String?

    @Option(
        help: ArgumentHelp(
            "Leave out what files of this name say, such as .gitignore; may be repeated, the strongest first.",
            valueName: "name"))
    var ignoreFile: [String] = []

    /// The patterns of the file, then the others, which decide last.
    ///
    /// - Throws: `ExcludeError`.
    var patterns: [String] {
        get throws { try (excludeFrom.map { try ExcludeRules.patterns(in: $0) } ?? []) + exclude }
    }

    func validate() throws {
        do {
            _ = try ExcludeRules(try patterns)
        } catch {
            throw ValidationError("\(error)")
        }
        for name in ignoreFile where name.isEmpty || name.contains("/") {
            throw ValidationError(
                "--ignore-file: \"\(name)\" is no name. Give one without a slash, such as .gitignore.")
        }
    }
}
