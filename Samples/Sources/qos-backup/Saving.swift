internal import ArgumentParser
internal import Backup
internal import Foundation
internal import QoSCore
internal import SampleCommand

extension BackupCommand {
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Makes a repository in a new or empty folder.")

        @OptionGroup var options: RepositoryOptions

        func run() throws {
            let prepared = try options.prepare(confirming: true)
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try Repository.create(
                    at: prepared.path, passphrase: prepared.passphrase, before: RepositoryOptions.hook)
                say("Made the repository \(repository.path). Keep the passphrase: nobody can restore without it.")
            }
        }
    }

    struct Save: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup", abstract: "Saves folders as a new snapshot, in the background.",
            discussion: """
                Of several folders, the snapshot has the whole path: 'restore --path home/me/photos' gives one back. \
                Patterns count from each folder.
                """)

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The folders to save.", completion: .directory)
        var folders: [String]

        @OptionGroup var leavingOut: ExcludeOptions

        @Flag(help: "Leave out other file systems that are mounted below the folder.")
        var oneFileSystem = false

        @Option(help: "A word for the snapshot. May be repeated.")
        var tag: [String] = []

        @Option(help: "The name of the machine in the snapshot, instead of its own.")
        var host: String?

        @Flag(help: "Write nothing: only tell what would be saved.")
        var dryRun = false

        @Flag(help: "Show what is done so far, each second. By default only on a terminal.")
        var progress = false

        func run() throws {
            var settings = BackupOptions()
            settings.excludes = try leavingOut.patterns
            settings.ignoreFiles = leavingOut.ignoreFile
            settings.oneFileSystem = oneFileSystem
            settings.tags = tag
            if let host { settings.host = host }
            settings.isDryRun = dryRun
            let (paths, chosen) = (folders.map { URL(fileURLWithPath: $0).standardizedFileURL.path }, settings)
            let (prepared, line) = (try options.prepare(), ProgressLine(always: progress))
            CommandProcess.backup(at: .background).run {
                let run = try BackupRun(try prepared.open(), folders: paths, options: chosen)
                let report = try await run.run(breathe: {
                    line.show { "\(counted(run.files, "file")), \(size(run.bytes))" }
                })
                line.clear()
                for problem in report.problems { complain("Not saved, or not as one state: \(problem)") }
                for problem in report.ignoreProblems { complain("Has no effect: \(problem)") }
                if report.leftOut > 0 { complain("Sockets and devices, which are not saved: \(report.leftOut).") }
                let snapshot = report.snapshot
                say(
                    "\(chosen.isDryRun ? "Would save" : "Snapshot \(snapshot.shortName):") \(counted(snapshot.files, "file")), \(size(snapshot.bytes)); "
                        + "\(report.unchanged) unchanged; \(size(report.newBytes)) new, \(size(report.storedBytes)) "
                        + "stored in \(counted(report.packs, "pack")).")
                if !report.problems.isEmpty { throw CommandStatus.incomplete }
            }
        }
    }
}
