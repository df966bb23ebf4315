import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite("What one client can do to the others", .serialized, .timeLimit(.minutes(3)))
struct LimitTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    private func start(_ more: String..., shell: String? = nil) throws -> ServiceProcess {
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"] + more,
            errors: world.state["errors"],
            shell: shell
        )
        try service.waitUntilListening()
        return service
    }

    /// A search that takes the database long, within a few files.
    private static let longSearch =
        "/search?syntax=fts&q=" + Array(repeating: "a", count: 5).joined(separator: "+OR+")

    private func writeLongTexts() throws {
        for number in 0..<10 {
            try world.folder.write("same\(number).txt", String(repeating: "a ", count: 1_000_000))
        }
        try world.folder.write("other.txt", "fox")
    }

    private func request(_ path: String, _ service: ServiceProcess) -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(service.token)\r\nConnection: close\r\n\r\n"
    }

    @Test("several words joined by + are several words, and %2B is a plus")
    func decodesPlus() throws {
        try world.folder.write("a.txt", "stack of a goroutine")
        try world.folder.write("b.txt", "goroutine and its stack")
        try world.folder.write("c.txt", "stack")
        let service = try start()
        try service.status { $0.complete }
        func paths(_ query: String) throws -> Set<String> {
            Set(try service.get("/search?q=" + query).decode(SearchResult.self).hits.map(\.path))
        }
        #expect(try paths("stack+goroutine") == ["a.txt", "b.txt"])
        #expect(try paths("stack%20goroutine") == ["a.txt", "b.txt"])
        #expect(try paths("stack+NOT+goroutine&syntax=fts") == ["c.txt"])
        #expect(try service.get("/search?q=a%2Bb").decode(SearchResult.self).query == "a+b")
        for bad in ["/search?q=%FF", "/search?q=%zz", "/search?q=a&q=b"] { #expect(try service.get(bad).status == 400) }
    }

    @Test("an HTTP/1.0 connection ends with its answer", arguments: ["", "Connection: keep-alive\r\n"])
    func closesOldConnections(field: String) throws {
        let service = try start("--idle-time", "3600")
        let client = try LoopbackSocket(port: service.port, patience: 10)
        client.send("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\(field)\r\n")
        let answer = String(decoding: client.readToEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(client.hasEnded)
    }

    @Test("searches that take long leave the others, the page and the stop as they are")
    func boundsSearches() throws {
        try writeLongTexts()
        let service = try start("--search-time", "1000")
        try service.status { $0.complete }
        let clients = try (0..<6).map { _ in try LoopbackSocket(port: service.port) }
        for client in clients { client.send(request(Self.longSearch, service)) }
        for _ in 0..<20 {
            #expect(try service.get("/").status == 200)
            #expect(try service.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
        }
        service.send(SIGTERM)
        let ending = service.wait()
        #expect((ending.status, ending.wasKilled) == (0, false))
        // Until here they wait for their answers.
        withExtendedLifetime(clients) {}
    }

    @Test("a client that hangs up ends its search")
    func cancelsWithConnection() throws {
        try writeLongTexts()
        let service = try start("--search-time", "1000")
        try service.status { $0.complete }
        do {
            let client = try LoopbackSocket(port: service.port)
            client.send(request(Self.longSearch, service))
            while !(try service.get("/metrics").text.contains("qos_service_searches_running{lane=\"slow\"} 1\n")) {}
            withExtendedLifetime(client) {}
        }
        while !(try service.get("/metrics").text.contains("qos_service_searches_running{lane=\"slow\"} 0\n")) {}
        #expect(try service.get("/metrics").text.contains("qos_service_searches_cancelled_total 1\n"))
    }

    @Test("connections without a request, half a head, and half a body are closed")
    func closesIdle() throws {
        let service = try start("--idle-time", "1", "--request-time", "1")
        let body = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf"
        for text in ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", body] {
            let client = try LoopbackSocket(port: service.port)
            client.send(text)
            // Ends when the service closes.
            let answer = String(decoding: client.readToEnd(), as: UTF8.self)
            #expect(answer.isEmpty != text.contains("\r\n\r\n"), "\(text)")
        }
    }

    @Test("with all connections taken by idle clients, others are answered")
    func limitsConnections() throws {
        let service = try start("--connections", "8", "--idle-time", "1000")
        let idle = try (0..<50).map { _ in try LoopbackSocket(port: service.port) }
        for _ in 0..<5 { #expect(try service.get("/healthz").status == 200) }
        #expect(idle.count == 50)
    }

    @Test("where descriptors are short, no more connections are taken than there is room for")
    func fitsDescriptors() throws {
        let service = try start("--idle-time", "1000", shell: #"ulimit -n 340 && exec "$@""#)
        let idle = try (0..<400).map { _ in try LoopbackSocket(port: service.port) }
        for _ in 0..<5 { #expect(try service.get("/healthz").status == 200) }
        #expect(idle.count == 400)
    }

    @Test("when every connection has a request, the next client is answered as soon as one of them has ended")
    func makesRoomAtEnd() throws {
        try writeLongTexts()
        let service = try start("--connections", "4", "--idle-time", "1000", "--search-time", "1")
        try service.status { $0.complete }
        let busy = try (0..<4).map { _ in try LoopbackSocket(port: service.port) }
        for client in busy {
            client.send(request(Self.longSearch, service).replacing("Connection: close\r\n", with: ""))
        }
        let socket = try LoopbackSocket(port: service.port, patience: 60)
        #expect(try HTTPAnswer(socket, request: request("/healthz", service)).status == 200)
        // Nobody was cut off in the middle of a request.
        for client in busy { #expect(client.readAnswer().contains("503 Service Unavailable")) }
    }

    @Test("without a free descriptor the loop waits between two attempts to accept")
    func waitsForDescriptors() throws {
        let service = try start("--idle-time", "1000")
        let open = try LoopbackSocket(port: service.port, patience: 60)
        func failures() throws -> Int {
            open.send(request("/metrics", service).replacing("Connection: close\r\n", with: ""))
            let text = open.readAnswer()
            return text.firstMatch(of: /accept_failures_total (\d+)/).flatMap { Int($0.1) } ?? 0
        }
        #expect(try failures() == 0)
        // The index has opened what it needs; from here on there is no descriptor for another connection.
        try service.limitDescriptors(to: 3)
        let begin = ContinuousClock.now
        let clients = try (0..<10).map { _ in try LoopbackSocket(port: service.port) }
        var count = 0
        while count < 5 { count = try failures() }
        // One attempt in 100 ms; without the wait there are thousands.
        #expect(Double(count) <= (ContinuousClock.now - begin) / .milliseconds(100) + 1)
        try service.limitDescriptors(to: 4096)
        let next = try LoopbackSocket(port: service.port, patience: 60)
        #expect(try HTTPAnswer(next, request: request("/healthz", service)).status == 200)
        #expect(clients.count == 10)
    }

    @Test("an index folder that is removed is made anew while the service runs")
    func survivesRemovedIndex() throws {
        try world.folder.write("a.txt", "fox")
        let service = try start("--rescan-interval", "1000")
        try service.status { $0.complete }
        try world.state.rename("index", "removed")
        let status = try service.status { $0.notice?.contains("removed") == true && $0.complete }
        #expect(status.indexed == 1)
        #expect(FileManager.default.fileExists(atPath: world.database))
        #expect(try service.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
    }

    @Test("a stop in the midst of a pass is told as that")
    func tellsStop() throws {
        var random = WordWorld(seed: 3)
        _ = try random.populate(world.folder, files: 1500, words: 60)
        let service = try start()
        try service.status { $0.files > 0 }
        service.send(SIGTERM)
        let last = service.wait().errors.split(separator: "\n").last ?? ""
        #expect(last.hasPrefix("stopped") || last.hasPrefix("ready  1500 files"), "\(last)")
    }
}
