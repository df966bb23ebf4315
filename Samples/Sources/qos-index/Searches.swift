internal import ArgumentParser
internal import Foundation
internal import Indexing
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension IndexCommand {
    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Searches all indexed folders, the best hits first.",
            discussion: """
                All words must occur; the last one may be the beginning of a word. '"two words"' is a phrase, one OR two an \
                alternative, -word and NOT word exclude. These words choose files, also \
                alone: path:PART or path:'"my docs"', ext:md or ext:md,txt, modified:2026-01-31, modified:today, \
                modified:2026-01-01..2026-01-31, modified:7d. Days are those of this machine's time zone.
                """)

        @OptionGroup var options: LibraryOptions

        @Argument(parsing: .allUnrecognized, help: "The words.")
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

        @Option(
            help: "relevance, the best match first, or modified, the last change first. (default: relevance)",
            completion: .list(SearchOrder.allCases.map(\.rawValue)),
            transform: { text in
                guard let order = SearchOrder(rawValue: text) else {
                    throw ValidationError("'\(text)' is neither relevance nor modified.")
                }
                return order
            })
        var sort: SearchOrder?

        @Flag(help: "Write one line of JSON for each hit.")
        var json = false

        func validate() throws {
            if let option = query.first(where: { $0.hasPrefix("--") && $0.count > 2 }) {
                throw ValidationError(
                    "There is no option \(option). To find it, put it in double quotes: '\"\(option)\"'.")
            }
            guard (0...3600).contains(wait) else {
                throw ValidationError("--wait takes 0 to 3600 seconds, not \(wait).")
            }
        }

        func run() throws {
            let (fresh, patience) = (fresh.map(LibraryOptions.canonical), Duration.seconds(wait))
            let (library, json) = (try options.library(), json)
            let entries = options.entries(library)
            let text = query.map(Self.quoted).joined(separator: " ")
            let parsed: SearchQuery
            do {
                parsed = try SearchQuery(
                    text, syntax: syntax ?? .words, limit: limit, order: sort ?? .relevance)
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
                if !json { for line in found.advice { complain(line) } }
                if found.answered == 0 { throw CommandStatus.failure }
                if !found.isComplete || !isFresh { throw CommandStatus.incomplete }
            }
        }

        /// The shell took the quotes of `path:"my docs"`: they belong to the filter.
        private static func quoted(_ argument: String) -> String {
            guard let colon = argument.firstIndex(of: ":"), argument.contains(where: \.isWhitespace),
                !argument.contains("\""), ["path", "-path"].contains(argument[..<colon].lowercased())
            else { return argument }
            return argument[...colon] + "\"" + argument[argument.index(after: colon)...] + "\""
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
        /// Nanoseconds since 1970.
        let modified: Int64
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
    /// Queries that have hits, if this one has none.
    private(set) var suggestions: [SearchSuggestion] = []

    /// Searches each folder. A folder that cannot be searched is named, and the others are searched all the same.
    ///
    /// The scores of two folders are comparable only roughly: a word may be rare in one and frequent in the other.
    init(_ query: SearchQuery, _ entries: [IndexLibrary.Entry], in library: IndexLibrary) {
        var failures: [(message: String, folders: [String])] = []
        for entry in entries {
            do {
                let reader = try IndexReader(folder: entry.folder, directory: library.directory(of: entry.folder))
                // An indexed folder in this one answers for itself, so that no hit comes twice.
                var query = query
                query.filter.excludedFolders = Set(
                    entries.compactMap { RootFolder.contains(entry.folder, $0.folder) ? entry.below($0) : nil })
                let answer = try reader.search(query, control: SearchControl(timeLimit: .seconds(30)))
                hits += answer.hits.map {
                    Hit(
                        folder: entry.folder, path: $0.path, display: $0.display, line: $0.line, score: $0.score,
                        snippet: $0.snippet, modified: $0.modified)
                }
                total += answer.total
                isTotalExact = isTotalExact && answer.isTotalExact
                pending += answer.pending
                isComplete = isComplete && answer.isComplete
                suggestions += answer.suggestions.filter { !suggestions.contains($0) }
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
        hits = hits.enumerated().sorted { left, right in
            let (first, second) = (left.element, right.element)
            if query.order == .modified || query.isFilterAlone {
                return (second.modified, left.offset) < (first.modified, right.offset)
            }
            return (second.score, left.offset) < (first.score, right.offset)
        }.prefix(query.limit).map(\.element)
    }

    /// What to ask instead, for people; empty if there are hits.
    var advice: [String] { total == 0 ? suggestions.prefix(4).map(\.sentence) : [] }

    func show(json: Bool) throws {
        for hit in hits {
            if json {
                try sayJSON(hit)
                continue
            }
            say("\(hit.folder)/\(hit.display):\(hit.line)")
            let words = hit.snippet.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !words.isEmpty { say("    " + words) }
        }
        if !json { say("\(hits.count) of \(isTotalExact ? "" : "more than ")\(counted(total, "file")).") }
        if pending > 0 {
            complain("\(pending) files wait to be read.")
        } else if !isComplete, !hasFailures {
            complain("The index lacks some files, or parts of them. 'qos-index status' says more.")
        }
    }
}

extension IndexLibrary.Entry {
    /// The path of another indexed folder below this one's.
    fileprivate func below(_ other: IndexLibrary.Entry) -> RelativePath? {
        guard other.folder != folder else { return nil }
        return RelativePath(
            bytes: Array(other.folder.utf8.dropFirst(folder.utf8.count).drop { $0 == UInt8(ascii: "/") }))
    }
}

extension SearchSuggestion {
    /// One line for people.
    fileprivate var sentence: String {
        switch kind {
        case .any: "No file has all of the words. Some have one: \(query)"
        case .withoutFilters: "Without the filters there are files: \(query)"
        case .prefix, .spelling, .part: "There are files with: \(query)"
        }
    }
}
