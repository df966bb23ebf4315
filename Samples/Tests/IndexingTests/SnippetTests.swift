import SampleTestSupport
import Testing

@testable import Indexing

@Suite("Snippets")
struct SnippetTests {
    private func snippet(_ text: String, _ query: String, _ syntax: SearchSyntax = .words) throws -> String {
        try Snippet(of: Array(text.utf8), terms: SearchQuery(query, syntax: syntax).terms).text
    }

    @Test(
        "matches are marked by word, whatever their case and accents",
        arguments: [
            ("The quick fox", "QUICK", "The ⟦quick⟧ fox"), ("The quicker fox", "qui", "The ⟦quicker⟧ fox"),
            ("The quicker fox", "qui fox", "The quicker ⟦fox⟧"), ("a snake_case b", "snake_case", "a ⟦snake⟧_⟦case⟧ b"),
            ("un café, une École", "cafe ecole", "un ⟦café⟧, une ⟦École⟧"), ("nothing here", "absent", "nothing here"),
            ("", "absent", ""), ("x żółw y", "żółw", "x ⟦żółw⟧ y"),
        ]
    )
    func marks(text: String, query: String, expected: String) throws {
        #expect(try snippet(text, query) == expected)
    }

    @Test(
        "a substring marks the words that contain it, whatever their case and its place",
        arguments: [
            ("The QUICKer fox", "uick", "The ⟦QUICKer⟧ fox"), ("quick", "UIC", "⟦quick⟧"), ("thick", "ick", "⟦thick⟧"),
            ("un ÉCOLEs", "cole", "un ⟦ÉCOLEs⟧"), ("ui ck", "uick", "ui ck"),
        ]
    )
    func marksParts(text: String, query: String, expected: String) throws {
        #expect(try snippet(text, query, .substrings) == expected)
    }

    @Test(
        "operators and columns of an expression are no words to be marked",
        arguments: [
            ("fox AND dog", "and ⟦fox⟧ or ⟦dog⟧ near body"), ("body:fox OR dog*", "and ⟦fox⟧ or ⟦dog⟧ near body"),
            ("NEAR(fox dog)", "and ⟦fox⟧ or ⟦dog⟧ near body"), ("\"and\" fox", "⟦and⟧ ⟦fox⟧ or dog near body"),
        ]
    )
    func skipsSyntax(query: String, expected: String) throws {
        #expect(try snippet("and fox or dog near body", query, .fts) == expected)
    }

    @Test("the piece is the first one with the most different words, not the first match")
    func choosesTheBestPiece() throws {
        let filler = String(repeating: "filler words ", count: 60)
        let text = "alpha first " + filler + "alpha and beta " + filler + "beta alpha again " + filler
        let snippet = try snippet(text, "alpha beta")
        #expect(snippet.contains("⟦alpha⟧ and ⟦beta⟧"))
        #expect(snippet.hasPrefix("…filler") || snippet.hasPrefix("…words"))
        #expect(snippet.hasSuffix("…"))
    }

    @Test("random texts are cut between characters, stay short, and lose nothing but the marks", arguments: [1, 2, 3])
    func cutsCleanly(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("ab é😀ż\n.")
        for _ in 0..<300 {
            let length = Int.random(in: 0..<600, using: &generator)
            let text = String((0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
            let snippet = try snippet(text, "a éb")
            #expect(snippet.utf8.count < 1600)
            #expect(!snippet.contains("\u{FFFD}"), "seed \(seed)")
            let plain = snippet.replacing("⟦", with: "").replacing("⟧", with: "").replacing("…", with: "")
            #expect(text.contains(plain), "seed \(seed)")
        }
    }
}
