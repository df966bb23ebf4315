internal import ArgumentParser
internal import Glibc
internal import Indexing
internal import SampleCommand

/// `qos-index`: a full-text index of several folders.
@main
struct IndexCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qos-index",
        abstract: "Keeps a full-text index of folders in the background, and searches it.",
        discussion: """
            A run that is killed leaves nothing to repair: run the same command again. Searches work while the index \
            is filled, also by another process.

            Exit codes: 0 done; 1 failed; 3 done, but some files could not be read, or the answer is incomplete; 64 \
            wrong arguments; 128 and the signal's number after a signal.
            """,
        subcommands: [Add.self, Remove.self, Status.self, Search.self, Watch.self, Compact.self]
    )

    static func main() {
        CommandProcess.prepareStreams()
        CommandProcess.raiseDescriptorLimit()
        // Its files are for this user alone.
        umask(0o077)
        main(nil)
    }
}

extension CommandStatus {
    /// The command failed.
    static let failure = CommandStatus(code: 1)
    /// Done, but some files could not be read, or the answer is incomplete.
    static let incomplete = CommandStatus(code: 3)
}
