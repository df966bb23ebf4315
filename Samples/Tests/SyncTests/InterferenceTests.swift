import Foundation
import Glibc
import SampleTestSupport
import Synchronization
import Testing
import TreeScan

@testable import Sync

@Suite("Changes during a run", .timeLimit(.minutes(5)))
struct InterferenceTests {
    /// Does something once, when a run comes to a step.
    private func interfere(_ world: SyncWorld, at step: SyncStep, _ body: @escaping @Sendable () -> Void) async throws
        -> SyncReport
    {
        try await world.sync { $0.reached = { if $0 == step { body() } } }
    }

    @Test("a name that appears right before the rename is never overwritten")
    func appeared() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "from A")
        let report = try await interfere(world, at: .intended) { try? world.temporary.write("b/f", "of the user") }
        #expect(report.skipped.count == 1, "\(report)")
        #expect(try world.temporary.read("b/f") == "of the user")
        try await world.sync()
        #expect(try world.temporary.files().count { $0.hasPrefix("b/f") } == 2)
        #expect(try world.leftovers() == [])
    }

    @Test("a file that changes before it is replaced or removed stays")
    func changed() async throws {
        let world = try SyncWorld()
        for name in ["f", "g", "h", "i"] { try world.temporary.write("a/\(name)", "old") }
        try await world.sync()
        try world.temporary.write("a/f", "new on A")
        try world.temporary.remove("a/g")
        let report = try await interfere(world, at: .planned) {
            try? world.temporary.write("b/f", "of the user, f")
            try? world.temporary.write("b/g", "of the user, g")
        }
        #expect(report.skipped.count == 2, "\(report)")
        #expect(try world.temporary.read("b/g") == "of the user, g")
        let next = try await world.sync()
        #expect(next.conflicts.count == 1)
        #expect(try world.temporary.read("a/g") == "of the user, g")
        #expect(world.difference() == [])
    }

    @Test("a file that changes before it is renamed as on the other side is on both sides in the end")
    func changedBeforeRename() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "old")
        try await world.sync()
        try world.temporary.rename("a/f", "a/g")
        let report = try await interfere(world, at: .planned) { try? world.temporary.write("b/f", "of the user") }
        #expect(report.skipped.count == 1, "\(report)")
        try await world.sync()
        let files = try world.temporary.files()
        for side in ["a/", "b/"] {
            let texts = try files.filter { $0.hasPrefix(side) }.map { try world.temporary.read($0) }
            #expect(texts.contains("of the user"), "\(side): \(files)")
        }
        #expect(world.difference() == [])
        #expect(try world.leftovers() == [])
    }

    @Test("a file that grows while it is copied is left for the next run")
    func grows() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", bytes: SeededGenerator.noise(9 << 20, seed: 2))
        let report = try await world.sync {
            $0.largeFile = 1 << 20
            $0.reached = { step in
                guard step == .partWritten else { return }
                let file = unsafe open(world.temporary["a/f"], O_WRONLY | O_APPEND)
                _ = unsafe write(file, "y", 1)
                close(file)
            }
        }
        #expect(report.skipped.count == 1 && !world.exists("b/f"), "\(report)")
        #expect(try await world.sync().copied == 1)
        #expect(world.difference() == [])
        #expect(try world.leftovers() == [])
    }

    @Test("a file that changes right before it is replaced stays, and nothing takes its name")
    func changedLate() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "old")
        try await world.sync()
        try world.temporary.write("a/f", "new on A")
        let report = try await interfere(world, at: .intended) { try? world.temporary.write("b/f", "of the user") }
        #expect(report.skipped.count == 1 && report.conflicts == [], "\(report)")
        #expect(try world.temporary.files().filter { $0.hasPrefix("b/") } == ["b/f"])
        #expect(try world.temporary.read("b/f") == "of the user")
    }

    @Test(
        "a write through an open file at the last moment keeps that version",
        arguments: [SyncStep.exchanged, .unnamed])
    func openFile(step: SyncStep) async throws {
        let world = try SyncWorld()
        for name in ["f", "g", "h"] { try world.temporary.write("a/\(name)", "old") }
        try await world.sync()
        let file = unsafe open(world.temporary["b/f"], O_WRONLY | O_APPEND)
        defer { close(file) }
        if step == .exchanged {
            try world.temporary.write("a/f", "new on A")
        } else {
            try world.temporary.remove("a/f")
        }
        let report = try await interfere(world, at: step) { _ = unsafe write(file, " and more", 9) }
        #expect(report.skipped.count + report.conflicts.count == 1, "\(report)")
        let texts = try world.temporary.files().filter { $0.hasPrefix("b/f") }.map { try world.temporary.read($0) }
        #expect(texts.contains("old and more"), "\(texts)")
        #expect(try world.leftovers() == [])
    }

    @Test("a file that somebody waits for comes before all others, and ends the wait")
    func wanted() async throws {
        let world = try SyncWorld()
        for number in 0..<1200 { try world.temporary.write("a/f\(number)", "f") }
        try world.temporary.write("a/z", "wanted")
        let files = WantedFiles()
        let waiter = Task { await files.wait(for: "z") }
        while files.paths.isEmpty { await Task.yield() }
        let first = Mutex<[String]?>(nil)
        try await world.sync {
            $0.wanted = files
            $0.reached = { step in
                guard step == .recorded else { return }
                let names = try? world.temporary.files().filter { $0.hasPrefix("b/") }
                first.withLock { $0 = $0 ?? names }
            }
        }
        #expect(first.withLock { $0 } == ["b/z"])
        await waiter.value
        #expect(files.paths.isEmpty && world.difference() == [])
        let cancelled = Task { await files.wait(for: "none") }
        cancelled.cancel()
        await cancelled.value
        #expect(files.paths.isEmpty)
    }
}
