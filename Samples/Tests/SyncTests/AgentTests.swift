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
        // An address of its own: agents of other tests could get the port between two lives.
        let host = "127.0.0.\(2 + (SyncStep.allCases.firstIndex(of: step) ?? 0))"
        let port = Mutex("0")
        func start() async throws -> StartedCommand {
            let arguments = [
                "agent", world.b, "--token-file", token, "--host", host, "--port", port.withLock { $0 },
            ]
            return try await blocking {
                let process = try StartedCommand("qos-sync", arguments, in: world.temporary, readsLines: true)
                let line = process.nextLine() ?? ""
                port.withLock { $0 = String(line.split(separator: ":").last ?? "") }
                return process
            }
        }
        let first = try await start()
        let address = try #require(try AgentAddress("http://\(host):\(port.withLock { $0 })"))
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
        var report: SyncReport?
        do {
            report = try await run {
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
            guard case .unreachable = error, isKilled.withLock({ $0 }) else { throw error }
        }
        #expect(isKilled.withLock { $0 }, "no run came to \(step): \(report.map { "\($0)" } ?? "it has failed")")
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
