import Foundation
import Glibc
import HTTPTypes
import NIOCore
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync
@testable import SyncAgent

@Suite("Trust between an agent and its clients", .timeLimit(.minutes(5)))
struct AgentTrustTests {
    /// The pair of the commands of these tests.
    private let pair = "0123456789abcdef"

    @Test("a wrong token is refused, and nothing is changed")
    func wrongToken() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "f")
        let agent = try await RunningServer.agent(world.b)
        let run = try SyncRun(
            a: world.a, agent: agent.address, token: "another-token-of-some-length", options: world.options)
        await #expect {
            _ = try await run.run()
        } throws: { error in
            if case SyncError.refused(.b, _, let detail) = error { detail.contains("token") } else { false }
        }
        #expect(!world.exists("b/f"))
    }

    @Test("requests of pages, of other names, and without the token are refused")
    func gate() throws {
        let gate = AgentGate(token: agentToken, hosts: ["files.example"])
        let right: HTTPFields = [.authorization: "Bearer \(agentToken)"]
        for host in ["127.0.0.1:7450", "[::1]:80", "localhost", "files.example", "FILES.example:443"] {
            #expect(throws: Never.self) { try gate.check(authority: host, headers: right) }
        }
        for host in ["evil.example", "", nil, "files.example.evil.example"] {
            #expect(throws: AgentGate.Refusal.self) { try gate.check(authority: host, headers: right) }
        }
        for token in ["", "Bearer", "Bearer x", agentToken, "Basic \(agentToken)", "Bearer \(agentToken)x"] {
            #expect(throws: AgentGate.Refusal.self) {
                try gate.check(authority: "localhost", headers: [.authorization: token])
            }
        }
        var page = right
        page[.origin] = "http://localhost"
        #expect(throws: AgentGate.Refusal.self) { try gate.check(authority: "localhost", headers: page) }
    }

    @Test("an agent that changes nothing still shows what it has")
    func readOnly() async throws {
        let world = try SyncWorld()
        try world.temporary.write("b/from B", "b")
        let agent = try await RunningServer.agent(world.b) { $0.isReadOnly = true }
        #expect(try await world.sync(with: agent).copied == 1)
        #expect(try world.temporary.read("a/from B") == "b")
        try world.temporary.write("a/from A", "a")
        await #expect(throws: SyncError.readOnlyAgent(.b, place: agent.address.description)) {
            try await world.sync(with: agent)
        }
        #expect(try world.temporary.files().filter { $0.hasPrefix("b/") } == ["b/from B"])
    }

    @Test("commands with names outside of the folder are refused")
    func hostileClient() async throws {
        let world = try SyncWorld()
        try world.temporary.write("secret", "secret")
        try world.temporary.write("b/f", "f")
        try world.temporary.makeLink("b/way out", to: "..")
        let agent = try await RunningServer.agent(world.b)
        let client = AgentClient(agent.address, token: agentToken)
        let open = AgentCommand.open(pair: pair, version: AgentCommand.version, setsOwners: false)
        let session = try #require(try await client.call(open, at: .root, session: nil).session).identifier
        let temporary = Data(TemporaryName.make(TemporaryName.prefix(pair: pair), 1))
        let end = AgentPart.End(digest: Data(), metadata: Metadata(mode: 0o600), setsOwners: false)
        func data(_ text: String) -> Data { Data(text.utf8) }
        func part(_ folder: String, _ name: Data) -> AgentPart {
            AgentPart(folder: data(folder), temporary: name, start: 0, size: 0, former: nil, isDurable: false, end: end)
        }
        let commands: [AgentCommand] = [
            .status(folder: data(".."), name: data("secret")), .status(folder: Data(), name: data("../secret")),
            .status(folder: data("/"), name: data("f")), .status(folder: Data(), name: data("f\0")),
            .status(folder: data("way out"), name: data("secret")), .folder(data("way out")),
            .rename(folder: Data(), old: data("f"), newFolder: data(".."), new: data("f")),
            .remove(folder: Data(), name: data("f"), isFolder: false),
            .remove(folder: data("way out"), name: data("a"), isFolder: true),
            .makeLink(folder: Data(), name: data("f2"), target: data("/")),
            .write(part("", data("f"))), .write(part("", data("f2"))), .write(part("..", temporary)),
            .write(part("way out", temporary)), .setTime(folder: data(".."), name: data("secret"), modified: 0),
        ]
        for command in commands {
            do {
                _ = try await client.call(command, at: .root, session: session)
                Issue.record("\(command) was done")
            } catch let error as SyncError {
                guard case .refused = error else { throw error }
            } catch let failure as FileSystemFailure {
                #expect([ENOTDIR, ELOOP].contains(failure.code), "\(command): \(failure)")
            }
        }
        #expect(try world.temporary.files().sorted() == ["b/f", "secret"])
        await #expect {
            _ = try await client.call(.synchronize, at: .root, session: "none")
        } throws: { error in
            if case SyncError.unreachable = error { true } else { false }
        }
    }

    @Test("a new session waits for the end of the changes of the one before, and lets none begin")
    func sessions() async throws {
        let world = try SyncWorld()
        let sessions = AgentSessions(path: world.b)
        let first = try await sessions.open(pair: pair, setsOwners: false)
        try first.enter()
        let second = Task { try await sessions.open(pair: pair, setsOwners: false) }
        // It ends the first session before it waits.
        while (try? first.enter()) != nil {
            first.leave()
            await Task.yield()
        }
        #expect(throws: AgentFailure.self) { try first.enter() }
        first.leave()
        let opened = try await second.value
        try opened.enter()
        opened.leave()
        #expect(try await sessions.session(opened.identifier) === opened)
        await #expect(throws: AgentFailure.self) { try await sessions.session(first.identifier) }
    }

    // MARK: An agent that lies

    /// The ways to lie, by the command.
    private static let lies: [(String, @Sendable (AgentCommand) throws -> [UInt8]?)] = [
        ("bytes", { _ in [0xFF, 0xFF, 0xFF, 0xFF, 0xFF] }),
        ("no answer", { _ in [] }),
        ("no session", { _ in try AgentFrame.answer() }),
        ("a path out of the folder", { lie(scan: $0, ["../f"]) }),
        ("an absolute path", { lie(scan: $0, ["/etc/f"]) }),
        ("an entry in no folder", { lie(scan: $0, ["d/f"]) }),
        ("a wrong order", { lie(scan: $0, ["g", "f"]) }),
        ("a name twice", { lie(scan: $0, ["f", "f"]) }),
        ("a dot", { lie(scan: $0, ["."]) }),
        (
            "other bytes than the digest says",
            { command in
                guard case .read(let seen, _, _) = command else { return lie(scan: command, ["f"]) }
                return AgentFrame.piece.bytes(DeltaStep.data([1, 2, 3]).encoded)
                    + (try AgentFrame.answer {
                        ($0.digest, $0.time, $0.status) = (Data(repeating: 0, count: 32), 0, seen.status)
                    })
            }
        ),
        (
            "more bytes than the file has",
            { command in
                guard case .read = command else { return lie(scan: command, ["f"]) }
                return AgentFrame.piece.bytes(DeltaStep.data([1, 2, 3, 4]).encoded)
            }
        ),
        (
            "a copy of nothing",
            { command in
                guard case .read = command else { return lie(scan: command, ["f"]) }
                return AgentFrame.piece.bytes(DeltaStep.copy(offset: 0, length: 3).encoded)
            }
        ),
    ]

    /// A scan with files of these names, of three bytes each.
    private static func lie(scan command: AgentCommand, _ names: [String]) -> [UInt8]? {
        guard case .scan = command else { return nil }
        let pieces = names.map { name in
            let stamp = FileStamp(size: 3, modified: 1, changed: 1, inode: 1, device: 1)
            let path = RelativePath(bytes: Array(name.utf8))
            let entry = Observation(path: path, kind: .regular, metadata: Metadata(mode: 0o600), stamp: stamp)
            return AgentFrame.piece.bytes(ScanPiece.entry(entry).encoded)
        }
        return pieces.joined() + ((try? AgentFrame.answer { $0.time = 1 }) ?? [])
    }

    @Test("an agent that lies gets an error that says so, and A stays as it is", arguments: lies.indices)
    func liar(index: Int) async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/mine", "mine")
        let (name, lie) = Self.lies[index]
        let server = try await RunningServer.liar { command in
            if let bytes = try lie(command) { return bytes }
            guard case .open = command else { return try AgentFrame.answer() }
            return try AgentFrame.answer {
                $0.session = AgentAnswer.Session(identifier: "s", setsOwners: false, inode: 1)
            }
        }
        await #expect("\(name)") {
            try await world.sync(with: server) { $0.mode = .twoWay }
        } throws: { error in
            switch error {
            case SyncError.wrongAnswer: name != "no answer"
            case SyncError.unreachable: name == "no answer"
            default: false
            }
        }
        #expect(try world.temporary.files().filter { $0.hasPrefix("a/") && !$0.contains(".qos-sync-") } == ["a/mine"])
        #expect(try world.leftovers() == [])
    }

    @Test("an agent that is silent, or not there, has an error in time that says what to do")
    func silence() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "f")
        let server = try await RunningServer.liar { _ in
            try await Task.sleep(for: .seconds(3600))
            return []
        }
        var patience = AgentClient.Patience()
        (patience.silence, patience.retries) = (.milliseconds(100), [.zero])
        func run() async throws {
            let client = AgentClient(server.address, token: agentToken, patience: patience)
            _ = try await SyncRun(a: world.a, client: client, options: world.options).run()
        }
        for _ in 0..<2 {
            await #expect {
                try await run()
            } throws: { error in
                guard case SyncError.unreachable(.b, _, _) = error else { return false }
                return "\(error)".contains("Is it running")
            }
            await server.stop()
        }
    }

    @Test("addresses are told from folders, and hold no secrets")
    func addresses() throws {
        #expect(try AgentAddress("folder") == nil && AgentAddress("/http://x") == nil)
        #expect(try AgentAddress("http://[::1]:80/")?.description == "http://[::1]:80")
        #expect(try AgentAddress("HTTPS://files.example/sync/")?.description == "https://files.example/sync")
        for wrong in ["http://", "http://u:p@host", "http://host/?q", "https://host#f", "http://h o"] {
            #expect(throws: AgentError.self, "\(wrong)") { try AgentAddress(wrong) }
        }
        #expect(try AgentAddress("http://10.1.2.3:1")?.isOpenToOthers == true)
        #expect(try AgentAddress("http://localhost:1")?.isOpenToOthers == false)
        #expect(try AgentAddress("https://10.1.2.3")?.isOpenToOthers == false)
    }

    @Test("a token file that others may read is refused")
    func tokens() throws {
        let folder = try TemporaryFolder()
        let token = try AgentToken.load(folder["token"], makes: true)
        #expect(try AgentToken.load(folder["token"], makes: true) == token)
        #expect(try AgentToken.load(folder["token"], makes: false) == token && token.utf8.count >= 40)
        try folder.setMode("token", 0o640)
        #expect(throws: AgentError.self) { try AgentToken.load(folder["token"], makes: false) }
        #expect(throws: AgentError.self) { try AgentToken.load(folder["none"], makes: false) }
        try folder.write("short", "short")
        try folder.setMode("short", 0o600)
        #expect(throws: AgentError.self) { try AgentToken.load(folder["short"], makes: true) }
    }
}
