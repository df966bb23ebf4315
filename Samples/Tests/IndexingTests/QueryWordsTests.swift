import Foundation
import SampleTestSupport
import Testing
import TreeScan

@testable import Indexing

@Suite("What people type")
struct QueryWordsTests {
    let world: IndexWorld
    let index: SearchIndex

    init() throws {
        world = try IndexWorld()
        try world.folder.write("brown.txt", "The quick brown fox")
        try world.folder.write("order.txt", "brown and quick")
        try world.folder.write("alpha.txt", "alpha only")
        try world.folder.write("both.md", "alpha beta")
        try world.folder.write("my docs/plan.md", "gamma delta")
        try world.folder.write("photo of Berlin.JPG", bytes: [0xFF, 0xD8, 0, 0])
        index = try world.indexed()
    }

    @Test(
        "phrases, excluded words, alternatives and filters mean what they say",
        arguments: [
            ("\"quick brown\"", ["brown.txt"]), ("\"brown quick\"", []), ("brown quick", ["brown.txt", "order.txt"]),
            ("\"quick bro\"", []), ("\"quick bro\"*", ["brown.txt"]), ("\"quick brown", ["brown.txt"]),
            ("alpha -beta", ["alpha.txt"]), ("alpha NOT beta", ["alpha.txt"]), ("-beta alpha", ["alpha.txt"]),
            ("quick -\"quick brown\"", ["order.txt"]), ("alpha --beta", ["both.md"]), ("alpha - beta", ["both.md"]),
            ("alpha AND beta", ["both.md"]), ("fox OR gamma", ["brown.txt", "my docs/plan.md"]),
            ("quick fox OR and", ["brown.txt", "order.txt"]),
            ("alpha OR gamma ext:md", ["both.md", "my docs/plan.md"]),
            ("alpha -ext:md", ["alpha.txt"]), ("ext:md", ["both.md", "my docs/plan.md"]), ("EXT:MD alpha", ["both.md"]),
            ("path:\"my docs\"", ["my docs/plan.md"]), ("path:\"MY DOCS\" gamma", ["my docs/plan.md"]),
            ("path:docs OR ext:jpg", ["my docs/plan.md", "photo of Berlin.JPG"]),
            ("ext:md -alpha", ["my docs/plan.md"]),
            ("-quick -alpha", ["my docs/plan.md", "photo of Berlin.JPG"]), ("qui* fox", ["brown.txt"]),
            ("berlin", ["photo of Berlin.JPG"]), ("jpg", ["photo of Berlin.JPG"]), ("std::alpha", []),
            ("NOT beta alpha", ["alpha.txt"]), ("alpha NOT bet", ["alpha.txt", "both.md"]), ("OR alpha", []),
            ("ext:.md,txt delta", ["my docs/plan.md"]),
            ("ext:md ext:jpg", ["both.md", "my docs/plan.md", "photo of Berlin.JPG"]),
        ] as [(String, Set<String>)])
    func reads(query: String, expected: Set<String>) throws {
        #expect(try index.hits(query) == expected)
    }

    @Test(
        "a wrong filter or choice says what is wrong and how to write it",
        arguments: [
            ("modified:2026-13-01", "\"2026-13-01\" is no day"), ("modified:2026-02-30", "is no day"),
            ("modified:gestern", "\"gestern\" is no day"), ("modified:..", "both ends"), ("modified:0d", "1 to 36500"),
            ("modified:2026-02-01..2026-01-01", "before the beginning"), ("ext:", "behind the colon"),
            ("ext:md,,txt", "extension is missing"), ("alpha OR ext:md", "a word and a filter"),
            ("alpha OR -beta", "excluded"), ("path:\"\"", "behind the colon"),
        ])
    func refuses(query: String, text: String) throws {
        do {
            _ = try SearchQuery(query)
            Issue.record("\(query) was accepted")
        } catch {
            #expect(error.isUserError && error.description.contains(text), "\(error)")
        }
    }

    @Test("days are those of the time zone, also where a day has 23 or 25 hours")
    func readsDays() throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        func range(_ text: String, now: Int64 = 0) throws -> [Int64?] {
            guard
                case .modified(let from, let before) = try #require(
                    SearchFilter.tests("modified", text, now: now * 1_000_000_000, zone: berlin).first)
            else { return [] }
            return [from.map { $0 / 1_000_000_000 }, before.map { $0 / 1_000_000_000 }]
        }
        // 29 March 2026 has 23 hours there: midnight is 23:00 UTC before, and 22:00 UTC after.
        #expect(try range("2026-03-29") == [1_774_738_800, 1_774_738_800 + 23 * 3600])
        #expect(try range("2026-10-25") == [1_792_879_200, 1_792_879_200 + 25 * 3600])
        #expect(try range("2026-03-29..") == [1_774_738_800, nil])
        #expect(try range("..2026-03-29") == [nil, 1_774_738_800 + 23 * 3600])
        #expect(try range("2026-03") == [1_772_319_600, 1_774_994_400])
        #expect(try range("2026") == [1_767_222_000, 1_798_758_000])
        #expect(try range("today", now: 1_774_738_800 + 10) == [1_774_738_800, 1_774_738_800 + 23 * 3600])
        #expect(try range("yesterday", now: 1_774_738_800 + 10) == [1_774_738_800 - 24 * 3600, 1_774_738_800])
        #expect(try range("2d", now: 200_000) == [27_200, nil])
    }

    @Test("files are found by the day of their change in local time, and listed by it, the last first")
    func findsDays() throws {
        let files = [("both.md", 1_700_000_000), ("alpha.txt", 1_600_000_000), ("brown.txt", 1_650_000_000)]
        for (name, time) in files { try world.folder.setTime(name, Int(time), 0) }
        try index.runPass()
        let answer = try index.search(SearchQuery("modified:2020..2023"))
        #expect(answer.hits.map(\.path) == ["both.md", "brown.txt", "alpha.txt"])
        #expect(
            answer.hits.map(\.modified) == [
                1_700_000_000_000_000_000, 1_650_000_000_000_000_000, 1_600_000_000_000_000_000,
            ])
        #expect(!answer.isRanked && answer.total == 3)
        let words = try index.search(SearchQuery("alpha OR brown modified:2020..2023", order: .modified))
        #expect(words.hits.map(\.path) == ["both.md", "brown.txt", "alpha.txt"])
        #expect(
            try index.search(SearchQuery("alpha", limit: 1, offset: 1, order: .modified)).hits.map(\.path) == [
                "alpha.txt"
            ])
    }

    @Test(
        "a query without hits says what would have some",
        arguments: [
            ("qiuck", .spelling, "quick"), ("fox gama", .spelling, "fox gamma"), ("alp brown", .prefix, "alpha brown"),
            ("lpha fox", .spelling, "alpha fox"), ("erli", .part, "berlin"), ("quick gamma", .any, "quick OR gamma"),
            ("alpha ext:jpg", .withoutFilters, "alpha"), ("foxy", .spelling, "fox"),
        ] as [(String, SearchSuggestion.Kind, String)])
    func suggests(query: String, kind: SearchSuggestion.Kind, expected: String) throws {
        let answer = try index.search(SearchQuery(query))
        #expect(answer.total == 0)
        #expect(answer.suggestions.contains(SearchSuggestion(kind: kind, query: expected)), "\(answer.suggestions)")
        for suggestion in answer.suggestions { _ = try SearchQuery(suggestion.query) }
    }

    @Test("the distance counts missing, surplus, wrong and swapped letters")
    func measures() {
        func distance(_ left: String, _ right: String, _ limit: Int = 2) -> Int? {
            Suggesting.distance(Array(left.unicodeScalars), Array(right.unicodeScalars), atMost: limit)
        }
        #expect(distance("quick", "quick") == 0 && distance("qiuck", "quick") == 1 && distance("quik", "quick") == 1)
        #expect(distance("quuick", "quick") == 1 && distance("quack", "quick") == 1 && distance("", "ab") == 2)
        #expect(distance("abc", "xyz") == nil && distance("a", "abcd") == nil && distance("ab", "ba", 0) == nil)
    }

    @Test("files of folders that answer for themselves are left out")
    func excludesFolders() throws {
        var query = try SearchQuery("ext:md")
        query.filter.excludedFolders = ["my docs"]
        #expect(try index.search(query).hits.map(\.path) == ["both.md"])
        #expect(try index.search(query).total == 1)
    }

    private func failure(of text: String) -> SearchError? {
        do throws(SearchError) {
            _ = try index.search(SearchQuery(text))
            return nil
        } catch {
            return error
        }
    }

    @Test("random queries are answered, or refused as the user's error", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func answersAll(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "alpha", "\"", "-", "NOT", "OR", "AND", "path:", "ext:md", "modified:", "7d", " ", " ", "*", "(", ")", ":",
            "東",
            "\u{301}", "''", "^", "{a}", "NEAR(", ",", "2026-01", "..", "\u{0}", "+",
        ]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 1..<10, using: &generator)).map { _ in
                parts.randomElement(using: &generator)!
            }.joined()
            let failure = failure(of: text)
            #expect(failure?.isUserError != false, "seed \(seed): \(text): \(failure.debugDescription)")
            if case .syntax? = failure { Issue.record("seed \(seed): \(text): \(failure.debugDescription)") }
        }
    }
}
