import Foundation
import SampleTestSupport
import Testing

@Suite("Hostile requests", .serialized, .timeLimit(.minutes(5)))
struct HostileRequestTests {
    /// A request and the status that it is answered with.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        var target = "/"
        var method = "GET"
        var version = "HTTP/1.1"
        var host = "Host: localhost\r\n"
        var more = ""
        /// All of the request, when it is none.
        var raw: String?

        var testDescription: String { name }

        func text(token: String) -> String {
            raw
                ?? "\(method) \(target) \(version)\r\n\(host)Authorization: Bearer \(token)\r\n\(more)Connection: close\r\n\r\n"
        }
    }

    private static func list(_ count: Int, _ item: (Int) -> String, by separator: String = "+OR+") -> String {
        (0..<count).map(item).joined(separator: separator)
    }

    private static func fields(_ count: Int, length: Int) -> String {
        list(count, { "X-\($0): \(String(repeating: "a", count: length))\r\n" }, by: "")
    }

    private static let heads: [Row] = [
        Row(name: "a field of 17 KiB", status: 400, more: fields(1, length: 17 * 1024)),
        Row(name: "40 KiB of fields", status: 400, more: fields(40, length: 1024)),
        Row(name: "a hundred fields and one", status: 400, more: fields(101, length: 1)),
        Row(name: "a path of 20 KiB", status: 400, target: "/" + String(repeating: "a", count: 20 * 1024)),
        Row(name: "a head without an end", status: 400, raw: "GET /" + String(repeating: "a", count: 200_000)),
        Row(name: "no Host", status: 421, host: ""),
        Row(name: "another site's Host", status: 421, host: "Host: evil.example\r\n"),
        Row(name: "a Host behind a user's name", status: 421, host: "Host: localhost@evil.example\r\n"),
        Row(name: "two Hosts", status: 400, host: "Host: localhost\r\nHost: evil.example\r\n"),
        Row(name: "a target without a path", status: 404, target: "*"),
        Row(name: "another site's Origin", status: 403, more: "Origin: http://evil.example\r\n"),
        Row(name: "no Origin", status: 403, more: "Origin: null\r\n"),
        Row(name: "POST", status: 405, method: "POST"), Row(name: "TRACE", status: 405, method: "TRACE"),
        Row(name: "CONNECT", status: 405, target: "localhost:80", method: "CONNECT"),
        Row(name: "no method", status: 400, method: "NONE"),
        Row(name: "HTTP/9.9", status: 400, version: "HTTP/9.9"),
        Row(name: "two lengths", status: 400, more: "Content-Length: 5\r\nContent-Length: 6\r\n"),
        Row(name: "a negative length", status: 400, more: "Content-Length: -5\r\n"),
        Row(name: "a length and chunks", status: 400, more: "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        Row(name: "a folded field", status: 400, more: "X: a\r\n b\r\n"),
        Row(name: "a zero in a field", status: 400, more: "X: a\0b\r\n"),
        Row(name: "a zero in the path", status: 400, target: "/\0"),
        Row(name: "TLS", status: 400, raw: "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n"),
        Row(name: "HTTP/2", status: 400, raw: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ]

    private static let queries: [Row] = [
        Row(name: "a path as a file", status: 400, target: "/file?id=../../etc/passwd"),
        Row(name: "a path above the root", status: 404, target: "/../../etc/passwd"),
        Row(name: "an encoded path", status: 404, target: "/file/%2e%2e%2f%2e%2e%2fetc%2fpasswd"),
        Row(name: "a file with a zero", status: 400, target: "/file?id=1%00"),
        Row(name: "a file that is none", status: 404, target: "/file?id=-1"),
        Row(name: "a number too large", status: 400, target: "/file?id=9223372036854775808"),
        Row(name: "lines far behind the end", status: 200, target: "/file?id=1&from=1000000000&count=1000"),
        Row(name: "lines out of range", status: 400, target: "/file?id=1&from=1000000001"),
        Row(name: "half an encoding", status: 400, target: "/search?q=fox%2"),
        Row(name: "a wrong encoding", status: 400, target: "/search?q=fox%zz"),
        Row(name: "bytes that are no text", status: 400, target: "/search?q=%FF%C0%AF%ED%A0%80"),
        Row(name: "a zero alone", status: 400, target: "/search?q=%00"),
        Row(name: "a zero in words", status: 200, target: "/search?q=fox%00fox"),
        Row(name: "a zero in FTS", status: 400, target: "/search?syntax=fts&q=fox%00%22"),
        Row(name: "q twice", status: 400, target: "/search?q=a&q=b"),
        Row(name: "q as a list", status: 400, target: "/search?q[]=a"),
        Row(name: "10,000 ampersands", status: 200, target: "/search?q=fox" + String(repeating: "&", count: 10_000)),
        Row(name: "1,024 bytes", status: 200, target: "/search?q=" + String(repeating: "a", count: 1024)),
        Row(name: "1,025 bytes", status: 400, target: "/search?q=" + String(repeating: "a", count: 1025)),
        Row(name: "33 words", status: 400, target: "/search?q=" + list(33, { "w\($0)" }, by: "+")),
        Row(name: "5 prefixes", status: 400, target: "/search?syntax=fts&q=" + list(5, { "w\($0)*" })),
        Row(name: "5 repetitions", status: 400, target: "/search?syntax=fts&q=" + list(6, { _ in "a" })),
        Row(name: "1,001 hits", status: 400, target: "/search?q=a&limit=1001"),
        Row(name: "hits behind all", status: 200, target: "/search?q=fox&offset=1000000"),
        Row(name: "SQL", status: 400, target: "/search?syntax=fts&q=fox');DROP+TABLE+document;--"),
        Row(
            name: "500 parentheses", status: 400,
            target: "/search?syntax=fts&q=" + String(repeating: "(", count: 500) + "fox"
                + String(repeating: ")", count: 500)),
        Row(name: "a distance too large", status: 200, target: "/search?syntax=fts&q=NEAR(fox+fox,+99999999999)"),
    ]

    private static let workloads: [Row] = [
        Row(name: "an item that is no number", status: 400, target: "/workloads/first"),
        Row(name: "an item above the root", status: 400, target: "/workloads/.."),
        Row(name: "an encoded path as an item", status: 400, target: "/workloads/%2e%2e%2fetc"),
        Row(name: "item zero", status: 400, target: "/workloads/0"),
        Row(name: "an item too large", status: 400, target: "/workloads/9223372036854775808"),
        Row(name: "an unknown item", status: 404, target: "/workloads/999"),
        Row(name: "an action by GET", status: 405, target: "/workloads/1/run"),
        Row(name: "an action by PUT", status: 405, target: "/workloads/1/run", method: "PUT"),
        Row(name: "an action by DELETE", status: 405, target: "/workloads/1/run", method: "DELETE"),
        Row(name: "POST to the list", status: 405, target: "/workloads", method: "POST"),
        Row(name: "POST to an item", status: 405, target: "/workloads/1", method: "POST"),
        Row(name: "POST to the events", status: 405, target: "/events", method: "POST"),
        Row(name: "an unknown action", status: 404, target: "/workloads/1/explode", method: "POST"),
        Row(name: "an action on an unknown item", status: 404, target: "/workloads/999/run", method: "POST"),
        Row(name: "an action above the root", status: 400, target: "/workloads/../run", method: "POST"),
        Row(name: "a longer path", status: 405, target: "/workloads/1/run/now", method: "POST"),
        Row(name: "no level", status: 400, target: "/workloads/2/raise", method: "POST"),
        Row(name: "an unknown level", status: 400, target: "/workloads/2/raise?level=urgent", method: "POST"),
        Row(name: "a level out of range", status: 400, target: "/workloads/2/raise?level=utility-99", method: "POST"),
        Row(
            name: "a reason of 201 bytes", status: 400,
            target: "/workloads/2/pause?because=" + String(repeating: "a", count: 201), method: "POST"),
        Row(name: "two reasons", status: 400, target: "/workloads/2/pause?because=a&because=b", method: "POST"),
        Row(
            name: "a body of 1 TB", status: 413, target: "/workloads/2/promote", method: "POST",
            more: "Content-Length: 1000000000000\r\n"),
        Row(name: "a list of none", status: 400, target: "/workloads?limit=0"),
        Row(name: "a list of a million", status: 400, target: "/workloads?limit=1000000"),
        Row(
            name: "an action for another site", status: 403, target: "/workloads/2/cancel", method: "POST",
            more: "Origin: http://evil.example\r\n"),
        Row(
            name: "an action for another Host", status: 421, target: "/workloads/2/cancel", method: "POST",
            host: "Host: evil.example\r\n"),
    ]

    @Test("each has the answer that its row says, and the service goes on")
    func areAnswered() throws {
        let world = try IndexWorld()
        try world.folder.write("a.txt", "fox")
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"], errors: world.state["errors"])
        try service.waitUntilListening()
        try service.status { $0.complete }
        for row in Self.heads + Self.queries + Self.workloads {
            let socket = try LoopbackSocket(port: service.port, patience: 60)
            let answer = try HTTPAnswer(socket, request: row.text(token: service.token))
            #expect(answer.status == row.status, "\(row.name): \(answer.head.prefix(60)) \(answer.text.prefix(200))")
        }
        #expect(try service.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
        service.send(SIGTERM)
        let ending = service.wait()
        #expect((ending.status, ending.wasKilled) == (0, false))
        #expect(!ending.errors.contains(" error "), "no client fills the log: \(ending.errors)")
    }
}
