internal import ArgumentParser
internal import Backup
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension BackupCommand {
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compares a folder with a snapshot, byte by byte.",
            discussion: """
                Reads all of the snapshot's files from the repository, and changes nothing. Compares contents, modes, \
                owners, times, targets of links, hard links and extended attributes. Sockets and devices do not count.
                """)

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of the snapshot's name, or latest.")
        var snapshot: String

        @Argument(help: "The folder: the one that was saved, or one that was restored.", completion: .directory)
        var folder: String

        @Option(help: "Only this entry, with everything below it.")
        var path: String = ""

        @OptionGroup var filter: FilterOptions

        @OptionGroup var leavingOut: ExcludeOptions

        func run() throws {
            var settings = VerifyOptions()
            settings.path = RelativePath(argument: path)
            settings.excludes = try leavingOut.patterns
            settings.ignoreFiles = leavingOut.ignoreFile
            let (prepared, filter) = (try options.prepare(), filter.filter)
            let (name, folder, chosen) = (snapshot, folder, settings)
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try prepared.open()
                let snapshot = try prepared.snapshot(name, of: filter, in: repository)
                let run = try VerifyRun(repository, snapshot, against: folder, options: chosen)
                let report = try await run.run(found: { say("\($0)") })
                for problem in report.damage { complain("Damage: \(problem)") }
                for problem in report.unreadable { complain("Not compared: \(problem)") }
                let missed = report.damage.count + report.unreadable.count
                say(
                    "Compared \(counted(report.entries, "entry", plural: "entries")), \(size(report.bytes)); "
                        + "\(counted(report.differences, "difference")); "
                        + "\(missed) could not be compared.")
                if !report.damage.isEmpty { throw CommandStatus.failure }
                if report.differences + missed > 0 { throw CommandStatus.incomplete }
            }
        }
    }
}
