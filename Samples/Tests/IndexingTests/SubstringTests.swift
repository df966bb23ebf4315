import SampleTestSupport
import Testing

@testable import Indexing

@Suite("Substrings")
struct SubstringTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
        try world.folder.write("one.txt", "func makeIterator() -> snake_case; Straße")
        try world.folder.write("two.txt", "The iterators of others (x.y) say \"no\"")
    }

    private func indexed() throws -> SearchIndex {
        let index = try world.open { $0.substrings = true }
        try index.runPass()
        return index
    }

    @Test(
        "all texts must occur, also within words and across them, without regard to capitals",
        arguments: [
            ("iterator", ["one.txt", "two.txt"]), ("eIter", ["one.txt"]), ("terators", ["two.txt"]),
            ("ake_ca", ["one.txt"]), ("(x.y)", ["two.txt"]), ("iter hers", ["two.txt"]), ("iter absent", []),
            ("\"no\"", ["two.txt"]), ("traß", ["one.txt"]), ("ITER ext:txt", ["one.txt", "two.txt"]),
            ("one.t", ["one.txt"]),
        ] as [(String, Set<String>)])
    func finds(text: String, paths: Set<String>) throws {
        #expect(try indexed().hits(text, .substrings) == paths)
    }

    @Test("words are found as without substrings, and a snippet marks the words that contain a part")
    func marks() throws {
        let index = try indexed()
        #expect(try index.hits("iterators") == ["two.txt"])
        #expect(try index.hits("terators") == [])
        let hit = try #require(try index.search(SearchQuery("erators", syntax: .substrings)).hits.first)
        #expect(hit.snippet.contains(SearchHit.markStart + "iterators" + SearchHit.markEnd))
    }

    @Test("changed and removed files leave nothing behind")
    func follows() throws {
        let index = try indexed()
        try world.folder.write("one.txt", "something else entirely")
        try world.folder.remove("two.txt")
        try index.runPass()
        #expect(try index.hits("iterator", .substrings) == [])
        #expect(try index.hits("thing", .substrings) == ["one.txt"])
        try index.close()
        #expect(try SearchIndex.integrity(of: index.status.database) == ["ok"])
    }

    @Test("less than three characters are refused, with what to do", arguments: ["ab", "iterator ab", "é1"])
    func refusesShort(text: String) {
        do throws(SearchError) {
            _ = try SearchQuery(text, syntax: .substrings)
            Issue.record("it was taken")
        } catch {
            #expect(error.description.contains("three characters"))
        }
    }

    @Test("an index that was made without substrings says how to get them, and one with them is used without asking")
    func refusesOthers() throws {
        let plain = try world.open()
        try plain.runPass()
        let query = try SearchQuery("iterator", syntax: .substrings)
        #expect(throws: SearchError.noSubstrings) { try plain.search(query) }
        try plain.close()
        #expect(throws: IndexError.self) { try world.open { $0.substrings = true } }
        let again = try world.open()
        #expect(try again.hits("iterators") == ["two.txt"], "the refusal lost nothing")
        try again.close()

        let other = try IndexWorld()
        try other.folder.write("one.txt", "makeIterator")
        let made = try other.open { $0.substrings = true }
        try made.runPass()
        try made.close()
        #expect(try other.open().hits("iter", .substrings) == ["one.txt"])
    }
}
