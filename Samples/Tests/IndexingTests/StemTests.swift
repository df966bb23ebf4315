import Foundation
import SampleTestSupport
import Testing
import TreeScan

@testable import Indexing

@Suite("Forms of words")
struct StemTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
        try world.folder.write("one.txt", "The runner was running along the houses.")
        try world.folder.write("two.txt", "He runs home.")
        try world.folder.write("three.txt", "A run, and another one.")
        try world.folder.write("vier.txt", "Die Häuser am Fluss, die Straßen und das Lied der Kinder.")
        try world.folder.write("fünf.txt", "Ein Haus in der Strasse.")
    }

    private func indexed(_ languages: [StemLanguage] = [.english, .german]) throws -> SearchIndex {
        let index = try world.open { $0.stemming = languages }
        try index.runPass()
        return index
    }

    @Test(
        "a word finds its forms in both languages, whichever form is asked for",
        arguments: [
            ("running", ["one.txt", "two.txt", "three.txt"]), ("runs", ["one.txt", "two.txt", "three.txt"]),
            ("run", ["one.txt", "two.txt", "three.txt"]), ("Häuser", ["vier.txt", "fünf.txt"]),
            ("haus", ["vier.txt", "fünf.txt"]), ("Straße", ["vier.txt", "fünf.txt"]), ("house", ["one.txt"]),
            ("kind", ["vier.txt"]), ("Liedern", ["vier.txt"]), ("haus fluss", ["vier.txt"]),
        ] as [(String, Set<String>)])
    func findsForms(query: String, paths: Set<String>) throws {
        #expect(try indexed().hits(query) == paths)
    }

    @Test("a text in quotes means this form, an exclusion all forms, and without the option there are none")
    func keepsExactWords() throws {
        let index = try indexed()
        #expect(try index.hits("\"running\"") == ["one.txt"])
        #expect(try index.hits("\"was running\"") == ["one.txt"])
        #expect(try index.hits("home -running") == [])
        #expect(try index.hits("runs home") == ["two.txt"])
        #expect(try index.hits("running OR kind") == ["one.txt", "two.txt", "three.txt", "vier.txt"])
        try index.close()
        let plain = try IndexWorld()
        try plain.folder.write("one.txt", "running")
        #expect(try plain.indexed().hits("runs").isEmpty)
    }

    @Test("only the languages of the index count")
    func keepsLanguagesApart() throws {
        let index = try indexed([.english])
        #expect(try index.hits("runs") == ["one.txt", "two.txt", "three.txt"])
        #expect(try index.hits("haus fluss").isEmpty)
        try index.close()
        #expect(throws: IndexError.self, "another choice") { try world.open { $0.stemming = [.german] } }
        #expect(try world.open().hits("runs") == ["one.txt", "two.txt", "three.txt"], "an index keeps its choice")
    }

    @Test("snippets and opened files mark the forms, and suggestions are words")
    func marksForms() throws {
        let index = try indexed()
        let one = try #require(try index.search(SearchQuery("runs house")).hits.first)
        #expect(one.snippet == "The runner was ⟦running⟧ along the ⟦houses⟧.")
        let excerpt = try index.excerpt(at: "two.txt", lines: 1...9, marking: SearchQuery("running"))
        #expect(excerpt?.lines == ["He ⟦runs⟧ home."])
        for query in ["runninf", "hauss", "kindre", "zzzz"] {
            for suggestion in try index.search(SearchQuery(query)).suggestions {
                #expect(!suggestion.query.unicodeScalars.contains { (0xE000...0xF8FF).contains($0.value) })
            }
        }
    }

    @Test("texts that change or go leave no form behind, and the index stays whole")
    func followsChanges() throws {
        let index = try indexed()
        try world.folder.write("one.txt", "swimming")
        try world.folder.remove("two.txt")
        try index.runPass()
        #expect(try index.hits("running") == ["three.txt"])
        #expect(try index.hits("swims") == ["one.txt"])
        try index.close()
        #expect(try SearchIndex.integrity(of: world.database) == ["ok"])
    }

    @Test("random texts are found by each form of each word, as those who stem both sides find them")
    func agreesWithStems() throws {
        var generator = SeededGenerator(seed: 4)
        let words = [
            "connect", "connected", "connection", "connections", "relate", "related", "relational", "aufgabe",
            "aufgaben",
            "laufen", "läuft", "gelaufen", "größe", "grösse", "größer", "naïve", "x", "ab", "1234", "東京",
        ]
        var texts: [String: [String]] = [:]
        for number in 0..<60 {
            let text = (0..<5).map { _ in words.randomElement(using: &generator) ?? "" }
            texts["r\(number).txt"] = text
            try world.folder.write("r\(number).txt", text.joined(separator: " "))
        }
        let index = try indexed()
        func forms(_ word: String) -> Set<[UInt8]> {
            let folded = WordText.folded(Array(word.utf8))
            return Set(SharedStemmers.stems(of: folded, [.english, .german]) + [folded])
        }
        for word in words {
            let expected = texts.filter { $0.value.contains { !forms($0).isDisjoint(with: forms(word)) } }.keys
            // The last word is a whole one: behind it stands an excluded one.
            let found = try index.hits("\(word) -zzz").filter { texts[$0] != nil }
            #expect(found == Set(expected), "\(word)")
        }
    }
}
