import Foundation
import Glibc
import SampleTestSupport
import Synchronization
import Testing
import TreeScan

@testable import Sync
@testable import SyncAgent

@Suite("Syncs with an agent", .timeLimit(.minutes(5)))
struct AgentTests {
    @Test("a first copy has everything, and a second run nothing to do", arguments: SyncMode.allCases)
    func firstCopy(mode: SyncMode) async throws {
        let world = try SyncWorld()
        try world.makeZoo()
        let agent = try await RunningServer.agent(world.b)
        let report = try await world.sync(with: agent) { $0.mode = mode }
        #expect(report.isInStep && report.copied == 10, "\(report)")
        #expect(TreePicture(world.b) == TreePicture(world.a))
        let second = try await world.sync(with: agent) { $0.mode = mode }
        #expect(second.copied == 0 && second.described == 0 && second.unchanged == 14, "\(second)")
        #expect(try world.leftovers() == [])
    }

    @Test("a first copy from the agent has everything")
    func firstCopyBack() async throws {
        let world = try SyncWorld()
        try world.temporary.makeZoo(in: "b", large: 1 << 20)
        let agent = try await RunningServer.agent(world.b)
        let report = try await world.sync(with: agent)
        #expect(report.isInStep && report.copied == 10, "\(report)")
        #expect(world.difference() == [])
        #expect(try await world.sync(with: agent).copied == 0)
    }

    @Test("changes of every kind go both ways")
    func bothWays() async throws {
        let world = try SyncWorld()
        try world.makeZoo()
        let agent = try await RunningServer.agent(world.b)
        try await world.sync(with: agent)
        try world.temporary.write("a/plain.txt", "changed on A")
        try world.temporary.write("b/large", "changed on B")
        try world.temporary.setMode("b/deep/er/still/file", 0o600)
        try world.temporary.remove("a/link")
        try world.temporary.makeLink("a/link", to: "empty")
        try world.temporary.remove("b/pipe")
        try world.temporary.write("b/pipe/now a folder", "f")
        try world.temporary.remove("a/dangling")
        try world.temporary.write("a/fresh/one", "1")
        let report = try await world.sync(with: agent)
        #expect(report.isInStep, "\(report)")
        #expect(world.difference() == [])
        #expect(try world.temporary.read("b/plain.txt") == "changed on A")
        #expect(try world.temporary.read("a/large") == "changed on B")
        #expect(!world.exists("b/dangling") && world.exists("b/fresh/one"))
        #expect(try await world.sync(with: agent).copied == 0)
    }

    @Test("a conflict keeps both, and a mirror undoes the changes of B")
    func conflictAndMirror() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f.txt", "A")
        try world.temporary.write("b/f.txt", "B is longer")
        try world.temporary.write("a/same", "same")
        try world.temporary.write("b/same", "same")
        let agent = try await RunningServer.agent(world.b)
        let report = try await world.sync(with: agent)
        #expect(report.conflicts.count == 1, "\(report)")
        #expect(try world.temporary.read("b/f.txt") == "A")
        #expect(try world.temporary.read("a/f.conflict-B-\(world.options.date).txt") == "B is longer")
        #expect(world.difference() == [])
        try world.temporary.write("b/same", "not the same")
        try world.temporary.remove("b/f.txt")
        try await world.sync(with: agent) { $0.mode = .mirror }
        #expect(try world.temporary.read("b/same") == "same" && world.exists("b/f.txt"))
        #expect(world.difference() == [])
    }

    @Test("a renamed file is renamed, and no byte of it is sent", arguments: Side.allCases)
    func rename(side: Side) async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/d/f", bytes: SeededGenerator.noise(100_000, seed: 1))
        try world.temporary.write("a/other", "o")
        let agent = try await RunningServer.agent(world.b)
        try await world.sync(with: agent)
        let here = side == .a ? "a" : "b"
        try world.temporary.makeFolder(here + "/e")
        try world.temporary.rename(here + "/d/f", here + "/e/g")
        let report = try await world.sync(with: agent)
        #expect(report.renamed == 1 && report.copied == 0, "\(report)")
        #expect(world.difference() == [])
    }

    @Test("an emptied side, too many removals, and another folder are refused")
    func guards() async throws {
        let world = try SyncWorld()
        for number in 0..<9 { try world.temporary.write("a/f\(number)", "f") }
        let agent = try await RunningServer.agent(world.b)
        try await world.sync(with: agent)
        for number in 0..<9 { try world.temporary.remove("b/f\(number)") }
        await #expect(throws: SyncError.emptySide(.b, archived: 9)) {
            try await world.sync(with: agent) { $0.maximumDeletions = 100 }
        }
        try world.temporary.write("b/f0", "f")
        await #expect(throws: SyncError.tooManyDeletions(.a, count: 8, total: 9, percent: 50)) {
            try await world.sync(with: agent)
        }
        try world.temporary.rename("b", "away")
        try world.temporary.makeFolder("b")
        await #expect(throws: SyncError.replaced(.b, path: agent.address.description)) {
            try await world.sync(with: agent)
        }
        #expect(try world.temporary.files().count { $0.hasPrefix("a/") } == 9)
    }

    // MARK: Large files

    @Test("a large file goes on where it was, and only what is new is sent", arguments: Side.allCases)
    func large(side: Side) async throws {
        let world = try SyncWorld()
        let agent = try await RunningServer.agent(world.b)
        let name = side == .a ? "a/f" : "b/f"
        var bytes = SeededGenerator.noise(6 << 20, seed: 3)
        try world.temporary.write(name, bytes: bytes)
        try world.temporary.write("a/other", "o")
        let parts = Atomic<Int>(0)
        let task = Task {
            try await world.sync(with: agent) {
                $0.largeFile = 1 << 20
                $0.reached = { step in
                    guard step == .partWritten, parts.wrappingAdd(1, ordering: .relaxed).newValue == 2 else { return }
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let second = try await world.sync(with: agent) { $0.largeFile = 1 << 20 }
        #expect(second.resumedBytes > 0 && second.resumedBytes < 6 << 20, "\(second)")
        #expect(world.difference() == [])

        bytes.insert(contentsOf: [1, 2, 3], at: 3 << 20)
        try world.temporary.write(name, bytes: bytes)
        let third = try await world.sync(with: agent) { $0.largeFile = 1 << 20 }
        #expect(third.copied == 1 && third.reusedBytes > bytes.count - 100_000, "\(third)")
        #expect(world.difference() == [])
        #expect(try world.leftovers() == [])
    }

    // MARK: Changes during a run

    @Test("a name that appears, and a file that changes, right before the rename stay")
    func interference() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/g", "old")
        let agent = try await RunningServer.agent(world.b)
        try await world.sync(with: agent)
        try world.temporary.write("a/f", "from A")
        try world.temporary.write("a/g", "new on A")
        let report = try await world.sync(with: agent) {
            $0.reached = { step in
                guard step == .intended else { return }
                try? world.temporary.write("b/f", "of the user, f")
                try? world.temporary.write("b/g", "of the user, g")
            }
        }
        #expect(report.skipped.count == 2, "\(report)")
        #expect(try world.temporary.read("b/f") == "of the user, f")
        #expect(try world.temporary.read("b/g") == "of the user, g")
        let next = try await world.sync(with: agent)
        #expect(next.conflicts.count == 2, "\(next)")
        #expect(world.difference() == [])
        #expect(try world.leftovers() == [])
    }

    @Test("a write through an open file at the last moment keeps that version")
    func openFile() async throws {
        let world = try SyncWorld()
        for name in ["f", "g", "h"] { try world.temporary.write("a/\(name)", "old") }
        let agent = try await RunningServer.agent(world.b)
        try await world.sync(with: agent)
        let file = unsafe open(world.temporary["b/f"], O_WRONLY | O_APPEND)
        defer { close(file) }
        try world.temporary.write("a/f", "new on A")
        let report = try await world.sync(with: agent) {
            $0.reached = { if $0 == .exchanged { _ = unsafe write(file, " and more", 9) } }
        }
        #expect(report.conflicts.count == 1, "\(report)")
        let texts = try world.temporary.files().filter { $0.hasPrefix("b/f") }.map { try world.temporary.read($0) }
        #expect(texts.sorted() == ["new on A", "old and more"])
    }

    // MARK: Kills

    @Test(
        "a kill of the agent at any step loses nothing, and the next run goes on",
        arguments: [
            SyncStep.scanned, .planned, .movedAside, .madeFolder, .renamed, .partWritten, .copied, .synchronized,
            .intended, .exchanged, .replaced, .recorded, .unnamed, .deleted, .described,
        ])
    func kill(step: SyncStep) async throws {
        let world = try SyncWorld()
        for number in 0..<6 { try world.temporary.write("a/keep\(number)", "keep") }
        for name in ["replaced", "gone", "renamed", "both", "rights"] {
            try world.temporary.write("a/\(name)", "old \(name)")
        }
        let token = world.temporary["token"]
        try world.temporary.write("token", agentToken)
        try world.temporary.setMode("token", 0o600)
        let port = Mutex("0")
        func start() async throws -> StartedCommand {
            let arguments = ["agent", world.b, "--token-file", token, "--port", port.withLock { $0 }]
            return try await blocking {
                let process = try StartedCommand("qos-sync", arguments, in: world.temporary, readsLines: true)
                let line = process.nextLine() ?? ""
                port.withLock { $0 = String(line.split(separator: ":").last ?? "") }
                return process
            }
        }
        let first = try await start()
        let address = try #require(try AgentAddress("http://127.0.0.1:\(port.withLock { $0 })"))
        let options = world.options
        func run(_ change: (inout SyncOptions) -> Void = { _ in }) async throws -> SyncReport {
            var options = options
            options.largeFile = 1 << 20
            change(&options)
            return try await SyncRun(a: world.a, agent: address, token: agentToken, options: options).run()
        }
        _ = try await run()
        try world.temporary.write("a/replaced", "new replaced")
        try world.temporary.write("b/both", "new on B, longer")
        try world.temporary.write("a/both", "new on A")
        try world.temporary.remove("a/gone")
        try world.temporary.rename("a/renamed", "a/other name")
        try world.temporary.setMode("a/rights", 0o600)
        try world.temporary.write("a/new/folder/file", "new")
        try world.temporary.write("a/large", bytes: SeededGenerator.noise(3 << 20, seed: 1))
        let isKilled = Mutex(false)
        let process = first.identifier
        do {
            _ = try await run {
                $0.reached = { reached in
                    guard reached == step else { return }
                    let isFirst = isKilled.withLock { known in
                        defer { known = true }
                        return !known
                    }
                    if isFirst { _ = Glibc.kill(process, SIGKILL) }
                }
            }
        } catch let error as SyncError {
            guard case .unreachable = error else { throw error }
        }
        #expect(isKilled.withLock { $0 }, "no run came to \(step)")
        _ = try await blocking { first.waitUntilExit() }
        let names = try world.temporary.files().filter { !$0.contains(".qos-sync-") }
        let texts = Set(names.map { try? world.temporary.read($0) })
        for new in ["new replaced", "new on A", "new on B, longer", "new"] { #expect(texts.contains(new), "\(step)") }

        let second = try await start()
        defer { second.terminate() }
        var last = try await run()
        // What was left because of the kill comes now.
        if !last.isInStep { last = try await run() }
        #expect(world.difference(folderTimes: false) == [], "\(last)")
        #expect(try world.leftovers() == [])
        #expect(!world.exists("b/gone") && !world.exists("b/renamed") && world.exists("b/other name"))
        #expect(try world.temporary.files().count { $0.hasPrefix("a/both.conflict-B") } == 1)
        #expect(try await run().copied == 0)
    }
}
