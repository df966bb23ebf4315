import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import qos_service

/// What `/files` answers about a folder.
private struct Listing: Decodable {
    struct Entry: Decodable {
        let name: String
        let path: String
        let kind: String
        let size: Int
    }

    let complete: Bool
    let entries: [Entry]
}

@Suite("The route of the files", .serialized, .timeLimit(.minutes(5)))
struct FileRouteTests {
    let world: HostingWorld
    let service: ServiceProcess

    init() throws {
        world = try HostingWorld()
        try world.served.write("a folder/file.bin", bytes: Array(0..<100))
        try world.served.writeFile(Array("bad".utf8) + [0xFF, 0x0A])
        try world.state.write("secret", "secret")
        try world.served.makeLink("out", to: world.state.path)
        try world.served.makeLink("link", to: world.state["secret"])
        try world.served.makePipe("pipe")
        service = try world.start([])
    }

    private func get(_ path: String, _ fields: [String: String] = [:], token: Bool = true) throws -> HTTPAnswer {
        let token = token ? ["Authorization": "Bearer \(service.token)"] : [:]
        return try HTTPAnswer(port: service.port, path: path, fields: token.merging(fields) { $1 })
    }

    @Test("it lists folders and sends files, whatever their names, by pieces, too")
    func sends() throws {
        let listing = try get("/files").decode(Listing.self)
        #expect(listing.complete)
        #expect(listing.entries.map(\.name) == ["a folder", "bad\\xFF\\u{A}", "link", "out", "pipe"])
        #expect(listing.entries.map(\.kind) == ["directory", "regular", "symbolic-link", "symbolic-link", "fifo"])
        let odd = try #require(listing.entries.first { $0.name.hasPrefix("bad") })
        #expect(odd.path == "bad%FF%0A" && odd.size == 1)
        #expect(try get("/files?path=\(odd.path)").text == "x")

        let below = try get("/files?path=a+folder/").decode(Listing.self)
        let file = try #require(below.entries.first)
        let whole = try get("/files?path=\(file.path)")
        #expect(whole.status == 200 && Array(whole.body) == Array(0..<100))
        #expect(whole.head.contains("attachment") && whole.head.contains("nosniff"))
        let part = try get("/files?path=\(file.path)", ["Range": "bytes=10-19"])
        #expect(part.status == 206 && Array(part.body) == Array(10..<20))
        #expect(part.head.lowercased().contains("content-range: bytes 10-19/100"))
        #expect(try get("/files?path=\(file.path)", ["Range": "bytes=100-"]).status == 416)
        let old = try get("/files?path=\(file.path)", ["Range": "bytes=10-19", "If-Range": "\"other\""])
        #expect(old.status == 200 && old.body.count == 100)
    }

    @Test("a large file arrives whole")
    func sendsLarge() throws {
        let bytes = SeededGenerator.noise(3 << 20, seed: 9)
        try world.served.write("large", bytes: bytes)
        let answer = try get("/files?path=large")
        #expect(answer.status == 200 && Array(answer.body) == bytes)
    }

    @Test(
        "nothing outside of the folder is sent, and no hostile path does harm",
        arguments: [
            ("..", 400), ("../secret", 400), ("a+folder/../../secret", 400), ("%2e%2e/secret", 400),
            ("/etc/passwd", 400), ("a+folder//file.bin", 400), ("./a+folder", 400), ("%00", 400), ("%zz", 400),
            ("%2F", 400), ("link", 403), ("out", 403), ("out/secret", 404), ("pipe", 403), ("none", 404),
            ("a+folder/file.bin/more", 404), (String(repeating: "x", count: 5000), 400),
            (String(repeating: "x", count: 256), 400), (String(repeating: "x/", count: 2000), 404),
        ])
    func refuses(path: String, status: Int) throws {
        let answer = try get("/files?path=\(path)")
        #expect(answer.status == status, "\(answer.text)")
        #expect(!answer.text.contains("secret\n") && !answer.text.contains("root:"))
        #expect(try answer.decode(ErrorResult.self).error.message.count > 10)
    }

    @Test("without the token, or from another site, it sends nothing")
    func guards() throws {
        #expect(try get("/files", token: false).status == 401)
        #expect(try get("/snapshots", token: false).status == 401)
        #expect(try get("/files", ["Origin": "http://evil.example"]).status == 403)
        #expect(try get("/files", ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"]).status == 403)
        #expect(try get("/files", ["Host": "evil.example"]).status == 421)
        #expect(try service.post("/files").status == 405)
        let open = try world.start(["--access", "open", "--index-dir", world.state["other index"]])
        #expect(try HTTPAnswer(port: open.port, path: "/files").status == 401)
        #expect(try HTTPAnswer(port: open.port, path: "/healthz").status == 200)
    }

    @Test(
        "the header Range",
        arguments: [
            (nil, ByteRange.all), ("bytes=0-0", .part(0..<1)), ("bytes=5-", .part(5..<10)), ("bytes=-3", .part(7..<10)),
            ("bytes=-30", .part(0..<10)), ("bytes=8-99", .part(8..<10)), ("bytes=10-", ByteRange.none),
            ("bytes=-0", ByteRange.none), ("bytes=5-4", .all), ("bytes=0-1,3-4", .all), ("lines=0-1", .all),
            ("bytes=-", .all), ("bytes=a-b", .all), ("bytes=0-99999999999999999999", .part(0..<10)),
            ("bytes=99999999999999999999-", ByteRange.none),
        ])
    func ranges(header: String?, range: ByteRange) {
        #expect(ByteRange(header, size: 10) == range)
    }
}
