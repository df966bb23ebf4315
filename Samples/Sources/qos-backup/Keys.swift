internal import ArgumentParser
internal import Backup
internal import QoSCore
internal import SampleCommand

/// The new passphrase.
struct NewPassphraseOptions: ParsableArguments {
    @Option(help: "A file, or a pipe, whose first line is the new passphrase.", completion: .file())
    var newPasswordFile: String?

    @Option(help: "A command of the shell; the first line of its output is the new passphrase.")
    var newPasswordCommand: String?

    func read() throws -> [UInt8] {
        let source = Passphrase.Source(
            file: newPasswordFile, command: newPasswordCommand, variable: "QOS_BACKUP_NEW_PASSWORD",
            options: "--new-password-file or --new-password-command", prompt: "New passphrase: ")
        return try Passphrase.read(source, confirming: true)
    }
}

extension BackupCommand {
    struct Keys: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key", abstract: "Shows, changes, adds and removes passphrases.",
            discussion: """
                All passphrases open the same repository. One that leaked is not undone by a change: who has a copy of \
                the old file 'repository' and knows it can still read the repository. Make a new one then.
                """,
            subcommands: [ListKeys.self, ChangeKey.self, AddKey.self, RemoveKey.self])
    }

    struct ListKeys: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the passphrases' names.")

        @OptionGroup var options: RepositoryOptions

        func run() throws {
            let prepared = try options.prepare()
            CommandProcess.backup(at: .userInitiated).run {
                for key in try prepared.open().passphrases() {
                    say(key.name + (key.isCurrent ? "  opened the repository now" : ""))
                }
            }
        }
    }

    struct ChangeKey: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd", abstract: "Changes the passphrase that opens the repository.")

        @OptionGroup var options: RepositoryOptions
        @OptionGroup var new: NewPassphraseOptions

        func run() throws {
            let (prepared, passphrase) = (try options.prepare(), try new.read())
            CommandProcess.backup(at: .userInitiated).run {
                try prepared.open().changePassphrase(to: passphrase)
                say("The passphrase is changed. The old one opens the repository no more.")
            }
        }
    }

    struct AddKey: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Adds a passphrase.")

        @OptionGroup var options: RepositoryOptions
        @OptionGroup var new: NewPassphraseOptions

        func run() throws {
            let (prepared, passphrase) = (try options.prepare(), try new.read())
            CommandProcess.backup(at: .userInitiated).run {
                let key = try prepared.open().addPassphrase(passphrase)
                say("Added the passphrase \(key.name). It opens the repository as the other ones do.")
            }
        }
    }

    struct RemoveKey: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Removes a passphrase, but not the one that is used for it.")

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of its name, as 'key list' shows them.")
        var name: String

        func run() throws {
            let (prepared, name) = (try options.prepare(), name)
            CommandProcess.backup(at: .userInitiated).run {
                try prepared.open().removePassphrase(named: name)
                say("Removed the passphrase \(name).")
            }
        }
    }
}
