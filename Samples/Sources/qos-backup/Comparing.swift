internal import ArgumentParser
internal import Backup
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension BackupCommand {
    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists what differs between two snapshots.",
            discussion: "+ is new, - is gone, M has another content, U has another mode, owner, time or attributes.")

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of the earlier snapshot's name.")
        var first: String

        @Argument(help: "The first digits of the later snapshot's name, or latest.")
        var second: String

        @OptionGroup var filter: FilterOptions

        func run() throws {
            let (prepared, filter, names) = (try options.prepare(), filter.filter, [first, second])
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try prepared.open()
                let snapshots = try names.map { try prepared.snapshot($0, of: filter, in: repository) }
                var count = 0
                let problems = try await repository.compare(snapshots[0], snapshots[1]) { change in
                    count += 1
                    say("\(change)")
                }
                for problem in problems { complain("Damage: \(problem)") }
                complain("\(counted(count, "entry", plural: "entries")) \(count == 1 ? "differs" : "differ").")
                if !problems.isEmpty { throw CommandStatus.failure }
            }
        }
    }

    struct Find: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the entries of all snapshots that a pattern matches.",
            discussion: "The pattern is one of a .gitignore file: '*.txt' matches at any depth, '/a/b' from the folder."
        )

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The pattern.")
        var pattern: String

        @OptionGroup var filter: FilterOptions

        func validate() throws {
            do {
                _ = try ExcludeRules([pattern])
            } catch {
                throw ValidationError("\(error)")
            }
        }

        func run() throws {
            let (prepared, filter, rules) = (try options.prepare(), filter.filter, try ExcludeRules([pattern]))
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try prepared.open()
                var (snapshots, problems) = try repository.snapshots()
                snapshots = snapshots.filter(filter.matches)
                for snapshot in snapshots {
                    var isFirst = true
                    problems += try await repository.list(snapshot) { path, node in
                        var isFolder = false
                        if case .folder = node.content { isFolder = true }
                        guard rules.match(path, isFolder: isFolder) else { return }
                        if isFirst {
                            say("Snapshot \(snapshot.shortName)  \(time(snapshot.time))  \(snapshot.folder)")
                        }
                        isFirst = false
                        say("  \(time(node.modified))  \(node.summary)  \(path.display)")
                    }
                }
                for problem in problems { complain("Damage: \(problem)") }
                if !problems.isEmpty { throw CommandStatus.failure }
            }
        }
    }

    struct Dump: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes the content of one file of a snapshot to the standard output.")

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of the snapshot's name, or latest.")
        var snapshot: String

        @Argument(help: "The path of the file below the folder.")
        var path: String

        @OptionGroup var filter: FilterOptions

        func run() throws {
            let (prepared, filter, name, path) = (
                try options.prepare(), filter.filter, snapshot, RelativePath(argument: path)
            )
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try prepared.open()
                let snapshot = try prepared.snapshot(name, of: filter, in: repository)
                try await repository.dump(path, of: snapshot) { bytes in
                    // Nobody reads on, or there is no room: the end of the command says so.
                    guard say(bytes: bytes) else { throw CommandStatus.failure }
                }
            }
        }
    }
}
