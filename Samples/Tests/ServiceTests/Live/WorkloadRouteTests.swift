import Foundation
import Glibc
import QoSCore
import QoSWorkloads
import SampleTestSupport
import Testing

@testable import qos_service

/// What `/workloads` answers, in part.
struct WorkloadsAnswer: Decodable {
    struct Item: Decodable {
        let id: Int
        let name: String
        let label: String?
        let state: String
        let level: String
        let isPromoted: Bool
        let isDeferred: Bool
        let obstacles: [String]
        let actions: [String]
        let finishedRuns: Int
        let attempts: Int
        let waitsFor: [Int]
        let details: Details?
        let parameters: String?
    }

    struct Details: Decodable {
        let reason: String
        let lastError: String?
        let pausedBecause: String?
    }

    struct Edge: Decodable {
        let from: Int
        let to: Int
        let isPromoted: Bool
    }

    let mayAct: Bool
    let items: [Item]
    let edges: [Edge]
}

/// What `/items` answers, in part.
private struct ItemsAnswer: Decodable {
    let items: [WorkloadsAnswer.Item]
    let next: Int?
}

@Suite("Pages of items", .timeLimit(.minutes(5)))
struct ItemPageTests {
    @Test(
        "all items are there, page by page, with a text and a state; what cannot be read is refused with what to write")
    func listsPages() async throws {
        let live = try await LiveWorld()
        let requests = try (0..<70).map { number in
            try WorkloadRequest(
                for: Digest.self, .init(folder: "/"), schedule: .after(.seconds(3600)),
                label: number % 2 == 0 ? "even \(number)" : "/odd/\(number)")
        }
        let made = try await live.host.submit(requests)
        try await made[3].cancel(because: "not wanted")
        func ask(_ words: String) throws -> HTTPAnswer {
            let fields = ["Authorization": "Bearer \(live.token)"]
            return try HTTPAnswer(port: live.port, path: "/items?\(words)", fields: fields)
        }
        var seen: [Int] = []
        var after = 0
        while true {
            let page = try ask("limit=20&after=\(after)").decode(ItemsAnswer.self)
            seen += page.items.map(\.id)
            guard let next = page.next else { break }
            #expect(page.items.count == 20)
            after = next
        }
        #expect(seen.count == 69 && seen == seen.sorted() && Set(seen).count == 69)
        #expect(try ask("find=EVEN+6&limit=100").decode(ItemsAnswer.self).items.count == 6)
        #expect(try ask("find=odd&limit=3").decode(ItemsAnswer.self).next == Int(made[7].id.rawValue))
        #expect(try ask("state=cancelled").decode(ItemsAnswer.self).items.map(\.label) == ["/odd/3"])
        #expect(try ask("state=running").decode(ItemsAnswer.self).items.isEmpty)
        #expect(try ask("state=asleep").status == 400 && ask("state=asleep").text.contains("Write running"))
        for words in ["after=-1", "after=x", "limit=0", "limit=99999", "find=\(String(repeating: "x", count: 300))"] {
            #expect(try ask(words).status == 400, "\(words)")
        }
        #expect(try ask("after=9223372036854775807").decode(ItemsAnswer.self).items.isEmpty)
        try await live.stop()
    }

    @Test("a stranger finds no label that names a folder")
    func hidesLabels() async throws {
        let live = try await LiveWorld(isOpen: true)
        _ = try await live.host.submit([
            try WorkloadRequest(
                for: Digest.self, .init(folder: "/"), schedule: .after(.seconds(3600)), label: "/home/secret")
        ])
        let all = try HTTPAnswer(port: live.port, path: "/items")
        #expect(all.status == 200 && all.text.contains("digest") && !all.text.contains("secret"))
        let none = try HTTPAnswer(port: live.port, path: "/items?find=secret").decode(ItemsAnswer.self)
        #expect(none.items.isEmpty)
        try await live.stop()
    }
}

@Suite("The files of the page")
struct PageAssetTests {
    @Test(
        "a client that takes gzip gets it",
        arguments: [
            ("gzip, deflate, br", true), ("GZIP", true), ("br;q=1, gzip ; q=0.5", true), ("gzip;q=0", false),
            ("gzip; q=0.00", false), ("deflate", false), ("", false), ("xgzip", false),
        ])
    func acceptsGzip(header: String, isTaken: Bool) {
        #expect(PageAsset.acceptsGzip(header) == isTaken)
        let (bytes, isCompressed) = PageAsset.page.bytes(accepting: header)
        #expect(isCompressed == isTaken && bytes.starts(with: [0x1F, 0x8B]) == isTaken)
    }

    @Test("the first view has its files within a second at 20 kB/s")
    func isSmall() {
        // The script of the details comes when somebody looks at them.
        let first = PageAsset.allCases.filter { $0 != .liveScript }
        let size = first.map { $0.bytes(accepting: "gzip").bytes.count }.reduce(0, +)
        #expect(size < 20_000, "\(size) bytes")
    }
}

@Suite("The routes of the workloads", .serialized, .timeLimit(.minutes(5)))
struct WorkloadRouteTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
        try world.folder.write("one.md", "fox")
    }

    private func start(_ more: String...) throws -> ServiceProcess {
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"] + more, errors: world.state["errors"])
        try service.waitUntilListening()
        return service
    }

    private func workloads(_ service: ServiceProcess) throws -> WorkloadsAnswer {
        try service.get("/workloads").decode(WorkloadsAnswer.self)
    }

    private func post(
        _ path: String, _ service: ServiceProcess, _ more: [String: String] = [:], token: Bool = true
    ) throws -> HTTPAnswer {
        let fields = (token ? ["Authorization": "Bearer \(service.token)"] : [:]).merging(more) { $1 }
        return try HTTPAnswer(port: service.port, path: path, method: "POST", fields: fields)
    }

    @Test("the indexing is an item that waits with its reason, its rescan waits for it, and both are promoted together")
    func showsIndexing() throws {
        let service = try start("--simulate", "thermal=serious")
        try service.status { $0.state == "paused" }
        let before = try workloads(service)
        #expect(before.mayAct)
        #expect(before.items.map(\.label) == ["pass at the start", "rescan"])
        let first = before.items[0]
        #expect(first.state == "deferred" && first.obstacles == ["heat"])
        #expect(first.details?.reason == "heat is serious: simulated")
        #expect(before.items[1].state == "scheduled" && before.items[1].waitsFor == [first.id])
        #expect(before.edges.map(\.isPromoted) == [false])

        let raised = try post("/workloads/\(before.items[1].id)/promote", service)
        #expect(raised.status == 200)
        let after = try workloads(service)
        #expect(after.items.map(\.level) == ["userInitiated", "userInitiated"])
        #expect(after.items.map(\.isPromoted) == [true, true] && after.edges.map(\.isPromoted) == [true])
        #expect(
            try service.get("/metrics").text.contains(
                "qos_workloads_items{class=\"userInitiated\",state=\"deferred\"} 1"))

        // Run now ignores the heat.
        #expect(try post("/workloads/\(first.id)/run", service).status == 200)
        try service.status { $0.complete }
    }

    @Test("pause, resume, raise and cancel do what they say, and answer with the item")
    func acts() throws {
        let service = try start()
        try service.status { $0.complete }
        let rescan = try #require(try workloads(service).items.first { $0.label == "rescan" })
        let path = "/workloads/\(rescan.id)"
        let paused = try post("\(path)/pause?because=maintenance+%3Cb%3E", service)
            .decode(WorkloadsAnswer.Item.self)
        #expect(paused.details?.pausedBecause == "maintenance <b>")
        #expect(paused.actions.contains("resume") && !paused.actions.contains("pause"))
        let resumed = try post("\(path)/resume", service).decode(WorkloadsAnswer.Item.self)
        #expect(resumed.details?.pausedBecause == nil)
        let raised = try post("\(path)/raise?level=utility", service).decode(WorkloadsAnswer.Item.self)
        #expect(raised.level == "utility" && raised.isPromoted)
        let detail = try service.get(path).decode(WorkloadsAnswer.Item.self)
        #expect(detail.parameters?.contains(world.folder.path.replacing("/", with: "\\/")) == true)
        let cancelled = try post("\(path)/cancel", service).decode(WorkloadsAnswer.Item.self)
        #expect(cancelled.state == "cancelled" && cancelled.actions.isEmpty)
        #expect(try post("\(path)/cancel", service).status == 409)
    }

    @Test("nobody without the token changes anything, and strangers see no reasons")
    func needsToken() throws {
        let open = try start("--access", "open")
        try open.status { $0.complete }
        let list = try HTTPAnswer(port: open.port, path: "/workloads")
        let answer = try list.decode(WorkloadsAnswer.self)
        #expect(list.status == 200 && !answer.mayAct)
        #expect(answer.items.allSatisfy { $0.details == nil && $0.parameters == nil })
        #expect(!list.text.contains(world.folder.path) && !list.text.contains("\"conditions\""))
        // The item that has not begun: the pass at the start may be about to end, and takes no promotion then.
        let id = try #require(answer.items.first { $0.label == "rescan" }).id
        for action in ["run", "pause", "resume", "raise?level=utility", "promote", "cancel"] {
            let refused = try post("/workloads/\(id)/\(action)", open, token: false)
            #expect(refused.status == 401, "\(action)")
            #expect(try refused.decode(ErrorResult.self).error.message.contains("token"))
        }
        let file = world.directory + "/token"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let token = try String(contentsOfFile: file, encoding: .utf8)
        let bearer = ["Authorization": "Bearer \(token)"]
        #expect(try post("/workloads/\(id)/promote", open, bearer, token: false).status == 200)
        let cookie = try HTTPAnswer(port: open.port, path: "/?token=\(token)")
        #expect(cookie.status == 303 && cookie.head.lowercased().contains("samesite=lax"))
    }

    @Test("a page of another site cannot act with the cookie of the owner")
    func refusesForeignSites() throws {
        let service = try start()
        // The server listens before the items are made.
        try service.status { $0.complete }
        let rescan = try #require(try workloads(service).items.first { $0.label == "rescan" })
        let path = "/workloads/\(rescan.id)/promote"
        let refused: [[String: String]] = [
            ["Origin": "http://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"], ["Sec-Fetch-Site": "same-site"],
        ]
        for fields in refused {
            #expect(try post(path, service, fields).status == 403, "\(fields)")
        }
        let own = ["Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"]
        #expect(try post(path, service, own).status == 200)
    }

    @Test("the events send the state at once, again after a change, and end when the service stops, within a second")
    func sendsEvents() throws {
        let service = try start("--request-time", "1", "--idle-time", "1")
        try service.status { $0.complete }
        let socket = try LoopbackSocket(port: service.port, patience: 60)
        let stream = EventReader(socket)
        socket.send(
            "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(service.token)\r\n\r\n")
        let head = stream.read(until: "\r\n\r\n")
        #expect(head.contains("200 OK") && head.contains("text/event-stream"))
        #expect(stream.read(until: "\"may_act\":true").contains("data: {"))
        _ = try post("/workloads/2/promote", service)
        #expect(stream.read(until: "\"level\":\"userInitiated\"") != "")
        // Longer than the limits of other requests: each state takes a second at most.
        for _ in 0..<4 { #expect(stream.read(until: "data: {") != "") }
        let start = ContinuousClock.now
        service.send(SIGTERM)
        stream.readToEnd()
        #expect(stream.hasEnded, "the service ends the stream")
        #expect(service.wait().status == 0)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("the number of live views is limited, and a client that takes nothing costs no other one")
    func boundsEvents() throws {
        let service = try start("--connections", "16")
        try service.status { $0.complete }
        let request = "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(service.token)\r\n\r\n"
        let sockets = try (0..<4).map { _ in try LoopbackSocket(port: service.port, patience: 60) }
        for socket in sockets {
            socket.send(request)
            #expect(EventReader(socket).read(until: "data: {") != "")
        }
        let refused = try service.get("/events")
        #expect(refused.status == 503)
        #expect(try refused.decode(ErrorResult.self).error.message.contains("4 pages"))
        #expect(try service.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
        let live = EventReader(sockets[0])
        for _ in 0..<3 { #expect(live.read(until: "data: {") != "") }
    }
}

/// Reads a stream piece by piece.
final class EventReader {
    private let socket: LoopbackSocket
    private var rest = ""
    private(set) var hasEnded = false

    init(_ socket: LoopbackSocket) {
        self.socket = socket
    }

    /// Returns everything up to a text, or an empty text if the stream ends before it.
    func read(until text: String) -> String {
        while true {
            if let range = rest.range(of: text) {
                let before = String(rest[..<range.upperBound])
                rest.removeSubrange(..<range.upperBound)
                return before
            }
            guard let piece = socket.readPiece() else { return "" }
            if piece.isEmpty {
                hasEnded = true
                return ""
            }
            rest += piece
        }
    }

    /// Reads until the other side closes.
    func readToEnd() {
        while let piece = socket.readPiece() {
            guard !piece.isEmpty else {
                hasEnded = true
                return
            }
        }
    }
}
