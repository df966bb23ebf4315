import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite("A sync with an agent in the service", .serialized, .timeLimit(.minutes(5)))
struct AgentHostingTests {
    let world: HostingWorld
    let place: TemporaryFolder

    init() throws {
        world = try HostingWorld()
        place = try TemporaryFolder()
        try world.state.write("token", "0123456789abcdefghij\n")
        try world.state.setMode("token", 0o600)
    }

    /// An agent of the folder `other`, and its port.
    private func agent(port: Int = 0) throws -> (process: StartedCommand, port: Int) {
        let process = try StartedCommand(
            "qos-sync", ["agent", world.other, "--token-file", world.state["token"], "--port", "\(port)"], in: place,
            readsLines: true)
        let line = try #require(process.nextLine())
        return (process, try #require(line.split(separator: ":").last.flatMap { Int($0) }, "\(line)"))
    }

    private func start(_ port: Int, _ more: [String] = []) throws -> ServiceProcess {
        try world.start(settings(port) + more)
    }

    private func settings(_ port: Int) -> [String] {
        [
            "--sync-a", world.served.path, "--sync-b", "http://127.0.0.1:\(port)", "--sync-token-file",
            world.state["token"], "--sync-archive", world.state["archive"],
        ]
    }

    private func stop(_ service: ServiceProcess) {
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }

    @Test("changes of both sides arrive, and a request brings a file that only the agent has")
    func day() throws {
        let (agent, port) = try agent()
        defer { agent.terminate() }
        try world.served.write("here", "h")
        let service = try start(port, ["--governor", "off", "--sync-interval", "1"])
        while !world.state.exists("other/here") { _ = try service.get("/status") }
        try world.served.write("d/later", "later")
        while !world.state.exists("other/d/later") { _ = try service.get("/status") }
        try world.state.write("other/there", "t")
        while !world.served.exists("there") { _ = try service.get("/status") }
        stop(service)

        // The sync is deferred, and not due: the request alone brings the file.
        let deferred = try start(port, ["--simulate", "thermal=serious"])
        try deferred.item("sync after changes") { $0.state == "deferred" && $0.obstacles == ["heat"] }
        for number in 0..<20 { try world.state.write("other/f\(number)", "f") }
        try world.state.write("other/wanted", "bytes")
        let answer = try deferred.get("/files?path=wanted")
        #expect(answer.status == 200 && answer.text == "bytes", "\(answer.head) \(answer.text)")
        #expect(try deferred.get("/files?path=nowhere").status == 404)
        stop(deferred)
    }

    @Test("an agent that is away defers the sync with its reason, and nothing is lost")
    func away() throws {
        let (first, port) = try agent()
        first.terminate()
        first.waitUntilExit()
        try world.served.write("here", "h")
        try world.state.write("other/there", "t")
        let service = try start(port, ["--governor", "off"])
        #expect(try service.post("/workloads/\(service.item("sync after changes") { _ in true }.id)/run").status == 200)
        let item = try service.item("sync after changes") { $0.details?.reason.contains("does not answer") == true }
        #expect(item.details?.reason.contains("127.0.0.1:\(port)") == true && item.state != "dead")
        #expect(item.attempts == 0 && item.finishedRuns == 0)
        try service.status { $0.notice?.contains("does not answer") == true }
        let missing = try service.get("/files?path=there")
        #expect(missing.status == 503 && missing.text.contains("cannot be asked"), "\(missing.text)")
        #expect(try service.get("/files?path=here").text == "h")

        let (second, _) = try agent(port: port)
        defer { second.terminate() }
        #expect(try service.get("/files?path=there").text == "t")
        while !world.state.exists("other/here") { _ = try service.get("/status") }
        try service.item("sync after changes") { $0.finishedRuns > 0 }
        try service.status { $0.notice == nil }
        stop(service)
    }

    @Test("an agent that is silent holds up neither requests nor the end of the service")
    func silent() throws {
        let fake = try FakeAgent(answer: nil)
        try world.served.write("here", "h")
        let service = try start(fake.port, ["--governor", "off"])
        let id = try service.item("sync after changes") { _ in true }.id
        #expect(try service.post("/workloads/\(id)/run").status == 200)
        try service.item("sync after changes") { $0.state == "running" }
        #expect(try service.get("/files?path=here").text == "h")
        let missing = try service.get("/files?path=there")
        #expect(missing.status == 503 && missing.text.contains("silent"), "\(missing.text)")
        stop(service)
    }

    @Test(
        "an agent that lies, and a server that is none, fail the attempt with the reason; it is tried again",
        arguments: [[0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [2, 1, 0x7B]] as [[UInt8]]
    )
    func liar(bytes: [UInt8]) throws {
        let reason = "wrong answer"
        let fake = try FakeAgent(answer: bytes)
        try world.served.write("here", "h")
        let service = try start(fake.port, ["--governor", "off"])
        let id = try service.item("sync after changes") { _ in true }.id
        #expect(try service.post("/workloads/\(id)/run").status == 200)
        let item = try service.item("sync after changes") { $0.attempts > 1 }
        #expect(item.details?.lastError?.contains(reason) == true, "\(item)")
        try service.status { $0.notice?.contains(reason) == true }
        #expect(try service.get("/files?path=here").text == "h")
        #expect(try service.get("/files?path=there").status == 503)
        stop(service)
        #expect(try world.served.files() == ["here"])
    }

    @Test("a file that is another one there is sent as it is here, and the sync brings the other version next")
    func older() throws {
        let (agent, port) = try agent()
        defer { agent.terminate() }
        for settings in [self.settings(port), world.sync + ["--index-dir", world.state["second index"]]] {
            if world.state.exists("other/f") { try world.state.remove("other/f") }
            try world.served.write("f", "old")
            let first = try world.start(settings + ["--governor", "off"])
            let id = try first.item("sync after changes") { _ in true }.id
            _ = try first.post("/workloads/\(id)/run")
            while (try? world.state.read("other/f")) != "old" { _ = try first.get("/status") }
            try first.item("sync after changes") { $0.state == "scheduled" && $0.finishedRuns > 0 }
            stop(first)

            let service = try world.start(settings + ["--simulate", "thermal=serious"])
            try service.item("sync after changes") { $0.state == "deferred" && $0.obstacles == ["heat"] }
            try world.state.write("other/f", "another")
            #expect(try service.get("/files?path=f").text == "old")
            while try service.get("/files?path=f").text != "another" {}
            #expect(try service.get("/metrics").text.contains("qos_workloads_raises_total{class=\"userInitiated\"}"))
            stop(service)
        }
    }

    @Test("patterns leave entries out of the sync, and a request does not wait for them")
    func excludes() throws {
        let (agent, port) = try agent()
        defer { agent.terminate() }
        try world.state.write("patterns", "*.log\n")
        try world.served.write("d/here", "h")
        try world.served.write("d/here.log", "h")
        for name in ["there.log", "private/x", "there"] { try world.state.write("other/\(name)", "t") }
        let more = ["--governor", "off", "--sync-exclude-from", world.state["patterns"], "--sync-exclude", "private/"]
        let service = try start(port, more)
        let id = try service.item("sync after changes") { _ in true }.id
        #expect(try service.post("/workloads/\(id)/run").status == 200)
        try service.item("sync after changes") { $0.finishedRuns > 0 }
        #expect(world.state.exists("other/d/here") && !world.state.exists("other/d/here.log"))
        #expect(world.served.exists("there") && !world.served.exists("there.log"))
        for name in ["there.log", "private/x"] { #expect(try service.get("/files?path=\(name)").status == 404) }
        stop(service)
    }
}
