internal import ArgumentParser
internal import FolderWatching
internal import Foundation
internal import Indexing
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension IndexCommand {
    struct Watch: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keeps the index up to date, in the background, until a signal comes.")

        @OptionGroup var options: LibraryOptions

        @Option(help: "Look at everything after this many seconds, also without a change.")
        var interval = 60

        func validate() throws {
            guard (1...86_400).contains(interval) else {
                throw ValidationError("--interval takes 1 to 86400 seconds, not \(interval).")
            }
        }

        func run() throws {
            let (library, interval) = (try options.library(), interval)
            let entries = options.entries(library)
            CommandProcess.index(at: .background).run {
                guard !entries.isEmpty else {
                    throw Failure("No folder is indexed. 'qos-index add FOLDER' adds one.")
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for entry in entries {
                        group.addTask {
                            let index = try library.open(entry)
                            defer { try? index.close() }
                            try await Watching(index: index, interval: .seconds(interval)).run()
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}

/// Brings an index up to date after each change of its folder, and from time to time.
struct Watching {
    let index: SearchIndex
    let interval: Duration

    /// Runs until it is cancelled. A folder that is gone for a while is waited for.
    func run() async throws {
        var isFirst = true
        var told: String?
        try await WatchLoop("qos-index", every: interval).run {
            defer { isFirst = false }
            do {
                let pass = try await Filling.run(index)
                if isFirst || pass.report.settled + pass.report.removed > 0 { _ = Filling.report(index, pass.report) }
                told = nil
                let folder = index.status.folder
                return [folder] + pass.folders.map { folder + "/" + $0.description }
            } catch IndexError.folder(let error) {
                if told != error.description { complain(error.description) }
                told = error.description
                return nil
            }
        }
    }
}
