import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import qos_service

@Suite("Who is answered")
struct AccessPolicyTests {
    private let policy = AccessPolicy(hosts: ["files.example"], token: "0123456789abcdef", cookie: "qos")

    @Test(
        "names of other sites are no names of this service",
        arguments: [
            ("localhost", true), ("localhost:8080", true), ("LOCALHOST:80", true), ("127.0.0.1:1", true),
            ("[::1]:8080", true),
            ("192.0.2.7", true), ("files.example:9", true), ("evil.example", false),
            ("localhost.evil.example:8080", false),
            ("127.0.0.1.evil.example", false), ("", false), ("::1", false), ("evil.example:127.0.0.1", false),
        ]
    )
    func checksHost(authority: String, isAllowed: Bool) {
        let refusal = policy.refusal(AccessPolicy.Question(authority: authority))
        #expect(refusal == (isAllowed ? nil : .foreignHost(authority)))
    }

    @Test("a request with several Host headers is not answered, though the first is this service")
    func checksFurtherHosts() {
        var question = AccessPolicy.Question(authority: "localhost")
        question.hasFurtherHosts = true
        #expect(policy.refusal(question) == .severalHosts)
    }

    @Test(
        "pages of other origins are not answered, links to the page are",
        arguments: [
            (nil, nil, nil, true), ("http://localhost:1", nil, nil, true), ("http://localhost:2", nil, nil, false),
            ("null", nil, nil, false), ("http://evil.example", nil, nil, false), (nil, "same-origin", "cors", true),
            (nil, "none", "navigate", true), (nil, "cross-site", "navigate", true),
            (nil, "cross-site", "no-cors", false),
            (nil, "same-site", "cors", false),
        ] as [(String?, String?, String?, Bool)]
    )
    func checksOrigin(origin: String?, site: String?, mode: String?, isAllowed: Bool) {
        var question = AccessPolicy.Question(authority: "localhost:1", origin: origin, fetchSite: site, fetchMode: mode)
        question.isPage = true
        #expect(policy.refusal(question) == (isAllowed ? nil : .foreignSite))
    }

    @Test("other sites cannot open files and searches in a window or a frame, so they cannot probe which there are")
    func refusesProbes() {
        for mode in ["navigate", "no-cors", "cors", nil] {
            let question = AccessPolicy.Question(authority: "localhost:1", fetchSite: "cross-site", fetchMode: mode)
            #expect(policy.refusal(question) == .foreignSite)
        }
        let own = AccessPolicy.Question(authority: "localhost:1", fetchSite: "none", fetchMode: "navigate")
        #expect(policy.refusal(own) == nil, "an address that is typed, or a download of the own page")
    }

    @Test(
        "the token comes as a header or a cookie",
        arguments: [
            ("Bearer 0123456789abcdef", [], true), ("bearer  0123456789abcdef", [], true),
            ("Bearer 0123456789abcdeX", [], false), ("Bearer", [], false), ("Basic 0123456789abcdef", [], false),
            (nil, ["qos=0123456789abcdef"], true), (nil, ["a=b; qos=0123456789abcdef"], true),
            (nil, ["a=b", "qos="], false),
            (nil, ["xqos=0123456789abcdef"], false), (nil, [], false),
        ] as [(String?, [String], Bool)]
    )
    func checksToken(authorization: String?, cookies: [String], isAllowed: Bool) {
        let question = AccessPolicy.Question(authority: "localhost", authorization: authorization, cookies: cookies)
        #expect(policy.hasToken(question) == isAllowed)
        #expect(AccessPolicy().hasToken(question), "where none is needed")
    }
}

@Suite("Access", .serialized)
struct AccessTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    private func start(_ more: String...) throws -> ServiceProcess {
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"] + more,
            errors: world.state["errors"]
        )
        try service.waitUntilListening()
        return service
    }

    @Test("every answer has the headers that keep it private, errors included")
    func addsHeaders() throws {
        let service = try start()
        let token = ["Authorization": "Bearer \(service.token)"]
        func ask(_ path: String, method: String = "GET", _ fields: [String: String]) throws -> HTTPAnswer {
            try HTTPAnswer(port: service.port, path: path, method: method, fields: fields)
        }
        let answers = try [
            (200, ask("/", token)), (200, ask("/healthz", [:])), (401, ask("/status", [:])), (401, ask("/", [:])),
            (401, ask("/?token=wrong", [:])), (303, ask("/?token=\(service.token)", [:])), (404, ask("/none", token)),
            (405, ask("/", method: "POST", token)), (405, ask("/search", method: "OPTIONS", token)),
            (421, ask("/status", token.merging(["Host": "evil.example"]) { $1 })),
            (403, ask("/status", token.merging(["Origin": "http://evil.example"]) { $1 })),
            (400, ask("/search", token)),
            (400, HTTPAnswer(LoopbackSocket(port: service.port), request: "no HTTP\r\n\r\n")),
        ]
        for (status, answer) in answers {
            let head = answer.head.lowercased()
            #expect(answer.status == status, "\(answer.head)")
            for part in ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "nosniff", "no-store"] {
                #expect(head.contains(part), "\(status): \(part)")
            }
            if status == 405 { #expect(head.contains("allow: get, head")) }
        }
        #expect(try ask("/status", method: "HEAD", token).body.isEmpty)
    }

    @Test("an open service tells nobody where things lie, and one with a token is the same after a start")
    func hidesPaths() throws {
        let open = try start("--access", "open")
        let answer = try HTTPAnswer(port: open.port, path: "/status")
        #expect(answer.status == 200)
        #expect(!answer.text.contains(world.directory) && !answer.text.contains(world.folder.path + "\""))
        open.send(SIGTERM)
        _ = open.wait()
        let first = try start()
        let token = first.token
        #expect(token.count >= 16)
        first.send(SIGTERM)
        _ = first.wait()
        #expect(try start().token == token)
    }

    @Test("a Unix socket is for this user alone and needs no token")
    func listensOnSocket() throws {
        let path = world.state["socket"]
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--socket", path],
            errors: world.state["errors"]
        )
        try service.waitForLine()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect((mode ?? 0o777) & 0o077 == 0)
        let socket = try #require(LoopbackSocket(path: path))
        let answer = try HTTPAnswer(socket, request: "GET /status HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n")
        #expect(answer.status == 200)
    }
}
