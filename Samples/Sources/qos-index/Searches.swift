internal import ArgumentParser
internal import Foundation
internal import Indexing
internal import QoSCore
internal import SampleCommand

extension IndexCommand {
    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Searches all indexed folders, the best hits first.",
            discussion: """
                All words must occur; the last one may be the beginning of a word. These words choose files: \
                path:PART, ext:md or ext:md,txt, modified:2026-01-31, modified:2026-01-01..2026-01-31, modified:7d.
                """)

        @OptionGroup var options: LibraryOptions

        @Argument(help: "The words.")
        var query: [String]

        @Option(
            help: "words; fts, the query language of FTS5; or substrings, also within words. (default: words)",
            completion: .list(SearchSyntax.allCases.map(\.rawValue)),
            transform: { text in
                guard let syntax = SearchSyntax(rawValue: text) else {
                    throw ValidationError("'\(text)' is not one of words, fts and substrings.")
                }
                return syntax
            })
        var syntax: SearchSyntax?

        @Option(help: "The number of hits to show.")
        var limit = 20

        @Option(help: "Bring this folder up to date first. It is an indexed one, or below one.", completion: .directory)
        var fresh: String?

        @Option(help: "With --fresh: the time limit in seconds.")
        var wait = 5

        @Flag(help: "Write one line of JSON for each hit.")
        var json = false

        func validate() throws {
            guard (0...3600).contains(wait) else {
                throw ValidationError("--wait takes 0 to 3600 seconds, not \(wait).")
            }
        }

        func run() throws {
            let (fresh, patience) = (fresh.map(LibraryOptions.canonical), Duration.seconds(wait))
            let (library, json) = (try options.library(), json)
            let entries = options.entries(library)
            let text = query.joined(separator: " ")
            let parsed: SearchQuery
            do {
                parsed = try SearchQuery(text, syntax: syntax ?? .words, limit: limit)
            } catch {
                throw ValidationError(error.description)
            }
            CommandProcess.index(at: .userInitiated).run {
                guard !entries.isEmpty else {
                    throw Failure("No folder is indexed. 'qos-index add FOLDER' adds one.")
                }
                var isFresh = true
                if let fresh { isFresh = try await Refreshing(library, entries).run(fresh, within: patience) }
                let found = FoundHits(parsed, entries, in: library)
                try found.show(json: json)
                if found.answered == 0 { throw CommandStatus.failure }
                if !found.isComplete || !isFresh { throw CommandStatus.incomplete }
            }
        }
    }
}

/// The hits of several folders as one list.
struct FoundHits {
    /// A hit with its folder.
    struct Hit: Encodable {
        let folder: String
        let path: String
        let display: String
        let line: Int
        let score: Double
        let snippet: String
    }

    private(set) var hits: [Hit] = []
    private(set) var total = 0
    private(set) var isTotalExact = true
    private(set) var pending = 0
    private(set) var isComplete = true
    /// The number of folders that were searched.
    private(set) var answered = 0
    /// Whether a folder could not be searched, and was named.
    private(set) var hasFailures = false

    /// Searches each folder. A folder that cannot be searched is named, and the others are searched all the same.
    ///
    /// The scores of two folders are comparable only roughly: a word may be rare in one and frequent in the other.
    init(_ query: SearchQuery, _ entries: [IndexLibrary.Entry], in library: IndexLibrary) {
        var failures: [(message: String, folders: [String])] = []
        for entry in entries {
            do {
                let reader = try IndexReader(folder: entry.folder, directory: library.directory(of: entry.folder))
                let answer = try reader.search(query, control: SearchControl(timeLimit: .seconds(30)))
                hits += answer.hits.map {
                    Hit(
                        folder: entry.folder, path: $0.path, display: $0.display, line: $0.line, score: $0.score,
                        snippet: $0.snippet)
                }
                total += answer.total
                isTotalExact = isTotalExact && answer.isTotalExact
                pending += answer.pending
                isComplete = isComplete && answer.isComplete
                answered += 1
            } catch {
                isComplete = false
                let message = "\(error)"
                if let index = failures.firstIndex(where: { $0.message == message }) {
                    failures[index].folders.append(entry.folder)
                } else {
                    failures.append((message, [entry.folder]))
                }
            }
        }
        // A wrong query is wrong for every folder: said once.
        for failure in failures { complain("\(failure.folders.joined(separator: ", ")): \(failure.message)") }
        hasFailures = !failures.isEmpty
        // Stable, so that equal hits of one folder keep their order.
        hits = hits.enumerated().sorted { ($1.element.score, $0.offset) < ($0.element.score, $1.offset) }
            .prefix(query.limit).map(\.element)
    }

    func show(json: Bool) throws {
        for hit in hits {
            if json {
                try sayJSON(hit)
                continue
            }
            say("\(hit.folder)/\(hit.display):\(hit.line)")
            say("    " + hit.snippet.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
        if !json { say("\(hits.count) of \(isTotalExact ? "" : "more than ")\(counted(total, "file")).") }
        if pending > 0 {
            complain("\(pending) files wait to be read.")
        } else if !isComplete, !hasFailures {
            complain("The index lacks some files, or parts of them. 'qos-index status' says more.")
        }
    }
}
