import Foundation
import Glibc
import Indexing
import SampleTestSupport
import Testing

@Suite("The service", .serialized)
struct ServiceTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    private func start(_ more: String..., folder: String? = nil, environment: [String: String] = [:]) throws
        -> ServiceProcess
    {
        try ServiceProcess(
            [folder ?? world.folder.path, "--index-dir", world.directory, "--port", "0"] + more,
            errors: world.state["errors"],
            environment: environment
        )
    }

    /// The jobs that the class of requests has run.
    private func jobsOfRequests(_ service: ServiceProcess) throws -> Int {
        let name = "qos_runtime_jobs_total{class=\"userInteractive\"} "
        let line = try #require(try service.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.dropFirst(name.count)))
    }

    @Test("requests run at userInteractive, apart from the searches")
    func requestsRunApart() throws {
        let service = try start()
        try service.waitUntilListening()
        let before = try jobsOfRequests(service)
        for _ in 0..<50 { #expect(try service.get("/healthz").status == 200) }
        #expect(try jobsOfRequests(service) - before >= 50)
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }

    @Test("searches, the status and the page are answered, and a stop ends in order")
    func serves() throws {
        try world.folder.write("docs/one.md", "# Title\nThe quick brown <b>fox</b>")
        try world.folder.write("two.bin", bytes: [0, 1])
        let service = try start()
        try service.waitUntilListening()
        let status = try service.status { $0.complete && $0.state == "idle" }
        #expect((status.files, status.indexed, status.skipped) == (2, 1, 1))
        #expect(status.reasons == ["binary": 1])

        let answer = try service.get("/search?q=quick%20fo&limit=5")
        #expect(answer.status == 200)
        let result = try answer.decode(SearchResult.self)
        #expect(result.hits.map(\.path) == ["docs/one.md"])
        #expect(result.hits.first?.snippet.contains("⟦quick⟧ brown <b>⟦fox⟧</b>") == true)
        #expect((result.complete, result.pending, result.query) == (true, 0, "quick fo"))
        #expect(result.tookMs > 0)

        let page = try service.get("/")
        #expect(page.status == 200)
        #expect(page.head.lowercased().contains("content-type: text/html"))
        #expect(page.text.contains("<!doctype html>"))
        #expect(!page.text.contains("http://") && !page.text.contains("https://"), "no external resource")
        #expect(try service.get("/none").status == 404)

        service.send(SIGTERM)
        let ending = service.wait()
        #expect((ending.status, ending.wasKilled) == (0, false))
        // The line of a workload may come behind it, in the same moment.
        #expect(ending.errors.contains("ready  1 files indexed  1 skipped  0 MB\n"))
        // How far the lines get until the stop depends on how fast the service was; the first one is always there.
        #expect(ending.errors.contains("0 files indexed  0 MB\n"), "plain lines, as this is no terminal")
        #expect(!ending.errors.contains("\u{1B}"))
        let log = try? FileManager.default.attributesOfItem(atPath: world.database + "-wal")[.size] as? Int
        #expect((log ?? 0) == 0)
    }

    @Test(
        "a bad request is refused with a sentence that helps",
        arguments: [
            ("/search", "q=WORDS"), ("/search?q=", "letter or digit"), ("/search?q=a&limit=many", "whole number"),
            ("/search?q=a&limit=0", "from 1 to"), ("/search?q=a&offset=-1", "from 0 to"),
            ("/search?q=a&syntax=regex", "words"), ("/search?q=%22open&syntax=fts", "double quotes"),
        ]
    )
    func refusesBadRequests(path: String, hint: String) throws {
        let service = try start()
        try service.waitUntilListening()
        let answer = try service.get(path)
        #expect(answer.status == 400)
        #expect(try answer.decode(ErrorResult.self).error.message.contains(hint))
        #expect(try service.get("/status").status == 200)
        service.send(SIGINT)
        #expect(service.wait().status == 0)
    }

    @Test(
        "wrong arguments end with 64, a bad folder with 66, and each says why",
        arguments: [
            (["--port", "0"], 64, "folder"), (["/", "--port", "70000"], 64, "0 to 65535"),
            (["/", "--rescan-interval", "0"], 64, "from 1 to"), (["/", "--unknown"], 64, "--unknown"),
            (["/none/at/all"], 66, "does not exist"), (["/dev/null"], 66, "not a folder"),
        ] as [([String], Int32, String)]
    )
    func refusesBadArguments(arguments: [String], status: Int32, hint: String) throws {
        let service = try ServiceProcess(arguments, errors: world.state["errors"])
        let ending = service.wait()
        #expect(ending.status == status)
        #expect(ending.errors.contains(hint))
    }

    @Test("a port that is taken is a failure that names the port and the option")
    func refusesTakenPorts() throws {
        let other = try LoopbackSocket()
        let service = try start("--port", "\(other.port)")
        let ending = service.wait()
        #expect(ending.status == 1)
        #expect(ending.errors.contains("Port \(other.port)") && ending.errors.contains("--port"))
        #expect(!ending.errors.contains("files indexed"), "what did not start shows no progress")
    }

    @Test("an index that another service has open is a failure that names its process")
    func refusesSharedIndex() throws {
        let first = try start()
        try first.waitUntilListening()
        let second = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"],
            errors: world.state["errors2"]
        )
        let ending = second.wait()
        #expect(ending.status == 1)
        #expect(ending.errors.contains("in use by process"))
        #expect(try first.get("/status").status == 200)
    }

    @Test("a damaged index is moved aside, made anew, and the status says so")
    func replacesDamagedIndex() throws {
        try world.folder.write("one.txt", "fox")
        try world.state.write("index/index.sqlite", String(repeating: "not a database ", count: 1000))
        let service = try start()
        try service.waitUntilListening()
        let status = try service.status { $0.complete }
        #expect(status.notice?.contains("moved to") == true)
        #expect(try service.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
    }

    @Test("the index of a folder is kept in the user's state folder unless told otherwise")
    func choosesDirectory() throws {
        let state = world.state["xdg"]
        let service = try ServiceProcess(
            [world.folder.path, "--port", "0"],
            errors: world.state["errors"],
            environment: ["XDG_STATE_HOME": state]
        )
        try service.waitUntilListening()
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/qos-service").count == 1)
    }

    @Test("the folder vanishes while the service runs: the reason is shown, searches go on, and so do passes")
    func survivesMissingFolder() throws {
        try world.folder.write("root/one.txt", "fox")
        let service = try start("--rescan-interval", "1", folder: world.folder["root"])
        try service.waitUntilListening()
        try service.status { $0.complete }
        try world.folder.rename("root", "away")
        let status = try service.status { $0.reason != nil }
        #expect(status.reason?.contains("does not exist") == true)
        #expect(try service.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
        try world.folder.rename("away", "root")
        try world.folder.write("root/two.txt", "fox")
        try service.status { $0.indexed == 2 && $0.reason == nil }
    }

    @Test("kill -9 at ten random moments loses nothing")
    func survivesKills() throws {
        let seed: UInt64 = 20
        var random = WordWorld(seed: seed)
        let names = try random.populate(world.folder, files: 1500, words: 60)
        var interrupted = 0
        for _ in 0..<10 {
            let service = try start()
            try service.waitUntilListening()
            var last = try service.status { $0.files > 0 }
            // The moment is so many answers later.
            for _ in 0..<Int.random(in: 0..<200, using: &random.generator) {
                last = try service.get("/status").decode(StatusAnswer.self)
            }
            service.send(SIGKILL)
            #expect(service.wait().wasKilled)
            if !last.complete { interrupted += 1 }
            for _ in 0..<100 {
                let name = names[Int.random(in: 0..<names.count, using: &random.generator)]
                try world.folder.write(name, random.text(words: 60))
            }
        }
        #expect(interrupted > 0, "no kill met the service at work")
        let service = try start("--rescan-interval", "1")
        try service.waitUntilListening()
        try service.status { $0.complete && $0.indexed == 1500 }
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
        #expect(try SearchIndex.integrity(of: world.database) == ["ok"])
        let index = try world.open()
        #expect(try index.hitSets() == world.oracle(), "seed \(seed)")
    }
}
