internal import ArgumentParser
internal import Backup
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension BackupCommand {
    struct Snapshots: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the snapshots, the oldest first.")

        @OptionGroup var options: RepositoryOptions

        @OptionGroup var filter: FilterOptions

        @Option(help: "The same as --folder.", completion: .directory)
        var path: String?

        func validate() throws {
            guard path == nil || filter.folder.isEmpty else {
                throw ValidationError("Give one of --path and --folder.")
            }
        }

        func run() throws {
            var options = filter
            if let path { options.folder = [path] }
            let (prepared, filter) = (try self.options.prepare(), options.filter)
            CommandProcess.backup(at: .userInitiated).run {
                let (snapshots, problems) = try prepared.open().snapshots()
                for snapshot in snapshots.filter(filter.matches) {
                    let folder = snapshot.folder.shown
                    var missing = snapshot.problems > 0 ? "  \(snapshot.problems) not saved" : ""
                    if !snapshot.tags.isEmpty {
                        missing += "  " + snapshot.tags.map { RelativePath($0).display }.joined(separator: ",")
                    }
                    if snapshot.isOfFuture() { missing += "  of the future: check the clock" }
                    say(
                        "\(snapshot.shortName)  \(time(snapshot.time))  \(snapshot.host)  \(folder)  "
                            + "\(snapshot.files) files  \(size(snapshot.bytes))\(missing)")
                }
                for problem in problems { complain(problem) }
                if !problems.isEmpty { throw CommandStatus.failure }
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "Lists the entries of a snapshot.")

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of the snapshot's name, or latest.")
        var snapshot: String

        @Argument(help: "Only the entries below this path.")
        var path: String = ""

        @OptionGroup var filter: FilterOptions

        func run() throws {
            let (prepared, name, path, filter) = (
                try options.prepare(), snapshot, RelativePath(argument: path), filter.filter
            )
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try prepared.open()
                let snapshot = try prepared.snapshot(name, of: filter, in: repository)
                let problems = try await repository.list(snapshot, below: path) {
                    say("\(time($1.modified))  \($1.summary)  \($0.display)")
                }
                for problem in problems { complain(problem) }
                if !problems.isEmpty { throw CommandStatus.failure }
            }
        }
    }

    struct Restore: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes the entries of a snapshot to a folder.",
            discussion: """
                Run it again to go on after an interruption: what is there is compared, not written again. Folders that \
                are there keep their owner, mode, time and attributes.
                """)

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of the snapshot's name, or latest.")
        var snapshot: String

        @Argument(help: "The folder to write to. It is made if it is missing.", completion: .directory)
        var target: String

        @Option(help: "Only this entry, with everything below it.")
        var path: String = ""

        @OptionGroup var filter: FilterOptions

        @Flag(help: "Replace files that are there and are others. Otherwise they stay, and are reported.")
        var replace = false

        @Flag(help: "Write nothing: only tell what would be restored. Files are compared by size and time.")
        var dryRun = false

        @Flag(help: "Show what is done so far, each second. By default only on a terminal.")
        var progress = false

        func run() throws {
            var settings = RestoreOptions()
            settings.path = RelativePath(argument: path)
            settings.replaces = replace
            settings.isDryRun = dryRun
            let (prepared, filter) = (try options.prepare(), filter.filter)
            let (name, target, chosen, line) = (snapshot, target, settings, ProgressLine(always: progress))
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try prepared.open()
                let snapshot = try prepared.snapshot(name, of: filter, in: repository)
                let run = try RestoreRun(repository, snapshot, to: target, options: chosen)
                let report = try await run.run {
                    line.show { "\(counted(run.entries, "entry", plural: "entries")), \(size(run.bytes))" }
                }
                line.clear()
                for problem in report.problems { complain("Not restored: \(problem)") }
                if report.incomplete > 0 {
                    complain(
                        "Entries that lack their owner, mode, times, attributes or hard links: \(report.incomplete). Run "
                            + "as root, or on a file system that has them.")
                }
                say(
                    "\(chosen.isDryRun ? "Would restore" : "Restored") \(counted(report.restored, "entry", plural: "entries")), \(size(report.bytes)); "
                        + "\(report.present) were there already; \(report.problems.count) could not be restored.")
                if !report.problems.isEmpty { throw CommandStatus.incomplete }
            }
        }
    }
}

extension String {
    /// A text of `PathText`, safe to print.
    fileprivate var shown: String { RelativePath(argument: self).display }
}

extension TreeNode {
    /// Kind, mode and size, for people.
    var summary: String {
        let octal = String(mode, radix: 8)
        let rights = String(repeating: "0", count: max(0, 4 - octal.count)) + octal
        return switch content {
        case .file(let file): "file    \(rights)  \(size(file.size))"
        case .folder: "folder  \(rights)  -"
        case .link(let target): "link    \(rights)  -> \(RelativePath(bytes: target).display)"
        case .pipe: "pipe    \(rights)  -"
        }
    }
}
