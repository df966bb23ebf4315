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
            let options = options
            CommandProcess.backup(at: .userInitiated).run {
                let passphrase = try Passphrase.read(file: options.passwordFile, confirming: true)
                let repository = try Repository.create(
                    at: options.repository, passphrase: passphrase, before: RepositoryOptions.hook)
                say("Made the repository \(repository.path). Keep the passphrase: nobody can restore without it.")
            }
        }
    }

    struct Save: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup", abstract: "Saves a folder as a new snapshot, in the background.")

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The folder to save.", completion: .directory)
        var folder: String

        @OptionGroup var leavingOut: ExcludeOptions

        @Flag(help: "Leave out other file systems that are mounted below the folder.")
        var oneFileSystem = false

        func run() throws {
            var settings = BackupOptions()
            settings.excludes = try leavingOut.patterns
            settings.ignoreFiles = leavingOut.ignoreFile
            settings.oneFileSystem = oneFileSystem
            let (options, folder, chosen) = (options, URL(fileURLWithPath: folder).standardizedFileURL.path, settings)
            CommandProcess.backup(at: .background).run {
                let report = try await BackupRun(try options.open(), folder: folder, options: chosen).run()
                for problem in report.problems { complain("Not saved, or not as one state: \(problem)") }
                for problem in report.ignoreProblems { complain("Has no effect: \(problem)") }
                if report.leftOut > 0 { complain("Sockets and devices, which are not saved: \(report.leftOut).") }
                let snapshot = report.snapshot
                say(
                    "Snapshot \(snapshot.shortName): \(counted(snapshot.files, "file")), \(size(snapshot.bytes)); "
                        + "\(report.unchanged) unchanged; \(size(report.newBytes)) new, \(size(report.storedBytes)) "
                        + "stored in \(counted(report.packs, "pack")).")
                if !report.problems.isEmpty { throw CommandStatus.incomplete }
            }
        }
    }
}
