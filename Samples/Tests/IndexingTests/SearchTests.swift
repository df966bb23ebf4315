import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Indexing

@Suite("Search")
struct SearchTests {
    let world: IndexWorld
    let index: SearchIndex

    init() throws {
        world = try IndexWorld()
        try world.folder.write("one.txt", "The quick brown fox; snake_case and x.y here")
        try world.folder.write("two.txt", "The quick quick quick dog. Café ÉCOLE")
        try world.folder.write("quick.md", "# A heading\nnothing else")
        try world.folder.write(
            "many.txt",
            String(repeating: "alpha beta ", count: 200) + "needle" + String(repeating: " gamma", count: 200))
        index = try world.indexed()
    }

    @Test(
        "plain words must all occur, the last one as a prefix, whatever characters they have",
        arguments: [
            ("quick", ["one.txt", "two.txt", "quick.md"]), ("QUICK brown", ["one.txt"]), ("quick dog", ["two.txt"]),
            ("qui", ["one.txt", "two.txt", "quick.md"]), ("qui brown", []), ("the fo", ["one.txt"]),
            ("snake_case", ["one.txt"]), ("case", ["one.txt"]), ("case_snake", []), ("x.y", ["one.txt"]),
            ("cafe ecole", ["two.txt"]), ("\"quick\" AND", ["one.txt"]), ("brown - fox", ["one.txt"]),
            ("(fox", ["one.txt"]),
            ("fox*", ["one.txt"]), ("fox OR", []), ("body:fox", []), ("heading", ["quick.md"]), ("md", ["quick.md"]),
        ] as [(String, Set<String>)]
    )
    func findsWords(query: String, expected: Set<String>) throws {
        #expect(try index.hits(query) == expected)
    }

    @Test(
        "the language of FTS5 is open to those who ask for it",
        arguments: [
            ("fox OR dog", ["one.txt", "two.txt"]), ("quick NOT dog", ["one.txt", "quick.md"]),
            ("\"quick brown\"", ["one.txt"]), ("path:quick", ["quick.md"]), ("NEAR(quick fox, 2)", ["one.txt"]),
            ("hea*", ["quick.md"]), ("title:heading", ["quick.md"]),
        ] as [(String, Set<String>)]
    )
    func findsExpressions(query: String, expected: Set<String>) throws {
        #expect(try index.hits(query, .fts) == expected)
    }

    @Test(
        "a syntax error says what is wrong and how to write it",
        arguments: ["AND", "\"open", "fox AND", "nocolumn:fox", "(fox", "x.y", "*", "fox NEAR(", "\0"]
    )
    func reportsSyntaxErrors(query: String) throws {
        do {
            _ = try index.hits(query, .fts)
            Issue.record("\(query) was accepted")
        } catch let error as SearchError {
            #expect(error.isUserError)
            #expect(query == "\0" || error.description.contains("double quotes"))
        }
        #expect(try index.hits("fox") == ["one.txt"], "the index goes on answering")
    }

    @Test("queries without words, too long ones and numbers out of range are refused")
    func refusesBadQueries() {
        #expect(throws: SearchError.noWords) { try SearchQuery("") }
        #expect(throws: SearchError.noWords) { try SearchQuery(" \n - ++ ") }
        #expect(throws: SearchError.tooLong(limit: 1024)) { try SearchQuery(String(repeating: "a", count: 1025)) }
        #expect(throws: SearchError.outOfRange(parameter: "limit", value: 0, range: SearchQuery.limits)) {
            try SearchQuery("a", limit: 0)
        }
        #expect(throws: SearchError.outOfRange(parameter: "offset", value: -1, range: SearchQuery.offsets)) {
            try SearchQuery("a", offset: -1)
        }
    }

    @Test("more words or prefixes than the limits are refused, repetitions included")
    func refusesExpensiveQueries() throws {
        func repeated(_ word: String, _ count: Int) -> String {
            Array(repeating: word, count: count).joined(separator: " OR ")
        }
        #expect(throws: SearchError.tooManyPrefixes(limit: 4)) { try SearchQuery(repeated("e*", 5), syntax: .fts) }
        #expect(throws: SearchError.tooManyPrefixes(limit: 4)) { try SearchQuery(repeated("\"e\" *", 5), syntax: .fts) }
        let different = (0..<33).map { "e\($0)" }
        #expect(throws: SearchError.tooManyWords(limit: 32)) {
            try SearchQuery(different.joined(separator: " OR "), syntax: .fts)
        }
        #expect(throws: SearchError.tooManyWords(limit: 32)) { try SearchQuery(different.joined(separator: " ")) }
        #expect(throws: SearchError.tooManyRepetitions(limit: 4)) { try SearchQuery(repeated("e", 6), syntax: .fts) }
        #expect(
            try !SearchQuery(Array(repeating: "e", count: 500).joined(separator: " ")).isExpensive,
            "plain words count once")
        #expect(throws: SearchError.tooManyWords(limit: 32)) {
            try SearchQuery(Array(repeating: "e", count: 33).joined(separator: "_"))
        }
        #expect(try SearchQuery(repeated("e*", 4), syntax: .fts).isExpensive)
        #expect(try SearchQuery(different.dropLast().joined(separator: " OR "), syntax: .fts).isExpensive)
        #expect(try !SearchQuery("quick fo").isExpensive)
    }

    @Test("a search ends when it is cancelled, and when its time is over, in the middle of the database's work")
    func endsEarly() throws {
        let query = try SearchQuery("quick")
        let cancelled = SearchControl()
        cancelled.cancel()
        #expect(throws: SearchError.cancelled) { try index.search(query, control: cancelled) }
        #expect(throws: SearchError.timedOut) { try index.search(query, control: SearchControl(timeLimit: .zero)) }
        // The places of a word that is everywhere are counted file by file, for each of its repetitions.
        for number in 0..<6 { try world.folder.write("same\(number).txt", String(repeating: "a ", count: 500_000)) }
        try index.runPass()
        let long = try SearchQuery(Array(repeating: "a", count: 5).joined(separator: " OR "), syntax: .fts)
        let clock = ContinuousClock.now
        #expect(throws: SearchError.timedOut) {
            try index.search(long, control: SearchControl(timeLimit: .milliseconds(30)))
        }
        #expect(ContinuousClock.now - clock >= .milliseconds(30), "it was begun")
        #expect(throws: SearchError.timedOut) {
            try index.search(long, control: SearchControl(processorTimeLimit: .milliseconds(30)))
        }
        #expect(try index.search(query).hits.count == 3, "the connection is as good as before")
    }

    @Test("a wait costs a search no processor time")
    func countsProcessorTime() async {
        let (stopsAfterWait, time) = await onThread {
            let control = SearchControl(processorTimeLimit: .milliseconds(20))
            control.begin()
            let clock = ContinuousClock.now
            // What a busy machine or a disk does to the thread: it waits, here for something that does not come.
            _ = poll(nil, 0, 40)
            let stopsAfterWait = control.shouldStop
            while !control.shouldStop {}
            return (stopsAfterWait, ContinuousClock.now - clock)
        }
        #expect(!stopsAfterWait)
        #expect(time >= .milliseconds(50))
    }

    @Test(
        "a quote or a space with a combining mark behind it is still a quote or a space",
        arguments: [
            "\"\u{301} fox", "fox \"\u{301}", "fo\"\u{301}x", "fox\u{20}\u{301}quick", "\"\u{20DD}", "\u{0}\u{301} fox",
        ]
    )
    func doublesQuotes(text: String) throws {
        do {
            _ = try index.search(SearchQuery(text))
        } catch {
            #expect(error == .noWords)
        }
    }

    @Test("the beginning of a word is found, by one letter and more; one and two letters are not ranked")
    func findsPrefixes() throws {
        for (text, isRanked) in [("q", false), ("qu", false), ("qui", true), ("fox q", true)] {
            let answer = try index.search(SearchQuery(text))
            #expect(answer.isRanked == isRanked)
            #expect(answer.hits.contains { $0.path == "one.txt" }, "\(text)")
        }
    }

    @Test("an answer says how many files match beyond those it shows")
    func counts() throws {
        let first = try index.search(SearchQuery("quick", limit: 2))
        #expect((first.hits.count, first.total, first.isTotalExact) == (2, 3, true))
        let last = try index.search(SearchQuery("quick", limit: 2, offset: 2))
        #expect((last.hits.count, last.total) == (1, 3))
        #expect(try index.search(SearchQuery("quick", limit: 2, offset: 4)).total == 3)
        #expect(try index.search(SearchQuery("absent")).total == 0)
    }

    @Test("a hit names the line of its first match, and an excerpt shows the lines around it")
    func showsLines() throws {
        try world.folder.write(
            "lines.txt", (1...50).map { $0 == 33 ? "here is pumpernickel" : "line \($0)" }.joined(separator: "\n"))
        try index.runPass()
        let hit = try #require(index.search(SearchQuery("pumpernickel")).hits.first)
        #expect(hit.line == 33)
        let excerpt = try #require(try index.excerpt(of: hit.id, lines: 32...34))
        #expect(excerpt.lines == ["line 32", "here is pumpernickel", "line 34"])
        #expect((excerpt.first, excerpt.lineCount, excerpt.path.description) == (32, 50, "lines.txt"))
        #expect(try index.excerpt(of: hit.id, lines: 60...70)?.lines == [])
        #expect(try index.excerpt(of: 1_000_000, lines: 1...2) == nil)
    }

    @Test("a file's own brackets are not taken for marks")
    func replacesBrackets() throws {
        try world.folder.write("marks.txt", "no ⟦match⟧ here but pumpernickel")
        try index.runPass()
        #expect(
            try index.search(SearchQuery("pumpernickel")).hits.first?.snippet == "no 〚match〛 here but ⟦pumpernickel⟧")
    }

    @Test("a match in the name comes before one in the text, and more matches before fewer")
    func ranks() throws {
        let hits = try index.search(SearchQuery("quick")).hits
        #expect(hits.map(\.path) == ["quick.md", "two.txt", "one.txt"])
        #expect(hits.map(\.score) == hits.map(\.score).sorted(by: >))
    }

    @Test("limit and offset cut the same order into pages")
    func pages() throws {
        let all = try index.search(SearchQuery("quick")).hits
        let first = try index.search(SearchQuery("quick", limit: 2)).hits
        let rest = try index.search(SearchQuery("quick", limit: 2, offset: 2)).hits
        #expect(first + rest == all)
        #expect(try index.search(SearchQuery("quick", offset: 3)).hits.isEmpty)
    }

    @Test("a snippet shows the match, marked, with some words around it")
    func showsSnippets() throws {
        let hit = try #require(index.search(SearchQuery("needle")).hits.first)
        #expect(hit.snippet.contains("beta ⟦needle⟧ gamma"))
        #expect(hit.snippet.count < 300)
    }

    @Test("an answer says how much of the folder it covers")
    func tellsCompleteness() throws {
        #expect(try index.search(SearchQuery("fox")).isComplete)
        try world.folder.write("three.txt", "fox")
        try world.folder.write("four.txt", "fox")
        let pass = try index.makePass()
        while index.status.activity != .indexing { _ = try pass.step() }
        let early = try index.search(SearchQuery("fox"))
        #expect((early.isComplete, early.pending, early.hits.count) == (false, 2, 1))
        _ = try pass.step(limit: BatchLimit(documents: 1))
        let middle = try index.search(SearchQuery("fox"))
        #expect((middle.isComplete, middle.pending, middle.hits.count) == (false, 1, 2))
        while try pass.step() != .finished {}
        let late = try index.search(SearchQuery("fox"))
        #expect((late.isComplete, late.pending, late.hits.count) == (true, 0, 3))
    }

    @Test("an index that was opened again is complete only after a scan")
    func isIncompleteAfterOpening() throws {
        try index.close()
        let again = try world.open()
        let answer = try again.search(SearchQuery("fox"))
        #expect((answer.isComplete, answer.hits.count) == (false, 1))
        try again.runPass()
        #expect(try again.search(SearchQuery("fox")).isComplete)
    }
}
