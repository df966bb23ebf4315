internal import ArgumentParser
internal import Backup
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension BackupCommand {
    struct Snapshots: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the snapshots, the oldest first.")

        @OptionGroup var options: RepositoryOptions

        func run() throws {
            let options = options
            CommandProcess.backup(at: .userInitiated).run {
                let (snapshots, problems) = try options.open().snapshots()
                for snapshot in snapshots {
                    let folder = RelativePath(snapshot.folder).display
                    let missing = snapshot.problems > 0 ? "  \(snapshot.problems) not saved" : ""
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

        func run() throws {
            let (options, name, path) = (options, snapshot, RelativePath(path))
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try options.open()
                let problems = try await repository.list(try repository.snapshot(named: name), below: path) {
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
            discussion: "Run it again to go on after an interruption: what is there is compared, not written again.")

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of the snapshot's name, or latest.")
        var snapshot: String

        @Argument(help: "The folder to write to. It is made if it is missing.", completion: .directory)
        var target: String

        @Option(help: "Only this entry, with everything below it.")
        var path: String = ""

        @Flag(help: "Replace files that are there and are others. Otherwise they stay, and are reported.")
        var replace = false

        func run() throws {
            var settings = RestoreOptions()
            settings.path = RelativePath(path)
            settings.replaces = replace
            let (options, name, target, chosen) = (options, snapshot, target, settings)
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try options.open()
                let snapshot = try repository.snapshot(named: name)
                let report = try await RestoreRun(repository, snapshot, to: target, options: chosen).run()
                for problem in report.problems { complain("Not restored: \(problem)") }
                if report.incomplete > 0 {
                    complain(
                        "Entries that lack their owner, mode, times, attributes or hard links: \(report.incomplete). Run "
                            + "as root, or on a file system that has them.")
                }
                say(
                    "Restored \(counted(report.restored, "entry", plural: "entries")), \(size(report.bytes)); "
                        + "\(report.present) were there already; \(report.problems.count) could not be restored.")
                if !report.problems.isEmpty { throw CommandStatus.incomplete }
            }
        }
    }
}

extension TreeNode {
    /// Kind, mode and size, for people.
    fileprivate var summary: String {
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
