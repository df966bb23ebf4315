import Glibc
import SampleTestSupport
import Testing

@Suite("Fresh answers of the service", .serialized)
struct FreshTests {
    private struct Answer: Decodable {
        struct Hit: Decodable {
            let path: String
        }

        let hits: [Hit]
        let fresh: Bool?
        let freshPending: Int?
    }

    @Test("a search with fresh finds what was written before it, without a wait for the next pass")
    func waits() throws {
        let world = try IndexWorld()
        try world.folder.write("docs/one.md", "fox")
        try world.folder.write("plain.txt", "fox")
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0", "--rescan-interval", "3600"],
            errors: world.state["errors"])
        try service.waitUntilListening()
        try service.status { $0.complete && $0.state == "idle" }
        #expect(try service.get("/search?q=fox").decode(Answer.self).fresh == nil)
        try world.folder.write("docs/sub/two.md", "zanzibar")
        for place in ["/docs", "docs/", "docs/sub", "/"] {
            let answer = try service.get("/search?q=zanzibar&fresh=\(place)&wait=20").decode(Answer.self)
            #expect(answer.hits.map(\.path) == ["docs/sub/two.md"])
            #expect(answer.fresh == true && answer.freshPending == 0)
        }
        #expect(try service.get("/search?q=zanzibar&fresh=/docs&wait=0").decode(Answer.self).fresh == false)
        for (query, hint) in [
            ("fresh=/plain.txt", "names a file"), ("fresh=../docs", "leads out"),
            ("fresh=/docs&wait=21", "from 0 to 20"),
        ] {
            let answer = try service.get("/search?q=fox&" + query)
            #expect(answer.status == 400 && answer.text.contains(hint), "\(query): \(answer.text)")
        }
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }
}
