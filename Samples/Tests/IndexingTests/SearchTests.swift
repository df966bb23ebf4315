import Indexing
import SampleTestSupport
import Testing

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
