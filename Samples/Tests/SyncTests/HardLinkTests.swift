import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import Sync

/// Names that are one file on one side become one file on the other one.
@Suite("Hard links in sync")
struct HardLinkTests {
    /// Runs a body with a sync of one kind: of two folders of this machine, or with an agent.
    private func each(
        _ body: (SyncWorld, (_ change: (inout SyncOptions) -> Void) async throws -> SyncReport) async throws -> Void
    )
        async throws
    {
        let local = try SyncWorld()
        try await body(local) { try await local.sync($0) }
        let distant = try SyncWorld()
        let agent = try await RunningServer.agent(distant.b)
        try await body(distant) { try await distant.sync(with: agent, $0) }
    }

    /// The names of each side in groups of one file.
    private func groups(_ world: SyncWorld, _ side: String) throws -> Set<Set<String>> {
        var groups: [UInt64: Set<String>] = [:]
        for name in try world.temporary.files() where name.hasPrefix(side + "/") {
            var status = stat()
            guard unsafe lstat(world.temporary[name], &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            groups[UInt64(status.st_ino), default: []].insert(String(name.dropFirst(2)))
        }
        return Set(groups.values)
    }

    /// Writes behind the end of a file, which stays the same file.
    private func append(_ world: SyncWorld, _ name: String, _ text: String) throws {
        let file = try #require(FileHandle(forWritingAtPath: world.temporary[name]))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    private func link(_ world: SyncWorld, _ old: String, _ new: String) throws {
        if world.temporary.exists(new) { try world.temporary.remove(new) }
        try #require(unsafe Glibc.link(world.temporary[old], world.temporary[new]) == 0)
    }

    /// Replaces a file by one of its own with the same content and time.
    private func separate(_ world: SyncWorld, _ name: String) throws {
        let path = world.temporary[name]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"", path]
        try process.run()
        process.waitUntilExit()
    }

    private func expectInStep(
        _ world: SyncWorld, _ wanted: Set<Set<String>>, _ place: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try groups(world, "a") == wanted, sourceLocation: place)
        #expect(try groups(world, "b") == wanted, sourceLocation: place)
        #expect(world.difference() == [], sourceLocation: place)
        #expect(try world.leftovers() == [], sourceLocation: place)
    }

    @Test("names of one file arrive as one, later names and changes too, with one copy of each content")
    func oneWay() async throws {
        try await each { world, sync in
            let bytes = SeededGenerator.noise(600_000, seed: 1)
            try world.temporary.write("a/x", bytes: bytes)
            try world.temporary.makeFolder("a/d")
            try link(world, "a/x", "a/d/y")
            try world.temporary.write("a/alone", "alone")
            var report = try await sync { _ in }
            #expect(report.copied == 2 && report.linked == 1 && report.isInStep, "\(report)")
            try expectInStep(world, [["x", "d/y"], ["alone"]])
            // A further name costs no copy.
            try link(world, "a/x", "a/z")
            report = try await sync { _ in }
            #expect(report.copied == 0 && report.linked == 1 && report.isInStep, "\(report)")
            try expectInStep(world, [["x", "d/y", "z"], ["alone"]])
            report = try await sync { _ in }
            #expect(report.copied == 0 && report.described == 0 && report.linked == nil && report.isInStep, "\(report)")
            // A change within the file, which all names see, on the other side.
            try append(world, "b/z", "more")
            report = try await sync { _ in }
            #expect(report.copied == 1 && report.linked == 2 && report.conflicts == [], "\(report)")
            try expectInStep(world, [["x", "d/y", "z"], ["alone"]])
            // A name goes.
            try world.temporary.remove("b/x")
            report = try await sync { _ in }
            #expect(report.removed == 1 && report.copied == 0 && report.linked == nil, "\(report)")
            try expectInStep(world, [["d/y", "z"], ["alone"]])
            // A new version under one name, as most editors write it.
            try world.temporary.write("a/new", "another version")
            try world.temporary.rename("a/new", "a/z")
            report = try await sync { _ in }
            #expect(report.copied == 1 && report.linked == nil, "\(report)")
            try expectInStep(world, [["d/y"], ["z"], ["alone"]])
            report = try await sync { _ in }
            #expect(report.copied == 0 && report.linked == nil && report.isInStep, "\(report)")
        }
    }

    @Test("links that are made and broken on either side become and are broken on the other one")
    func bothWays() async throws {
        try await each { world, sync in
            for name in ["x", "y", "z"] {
                try world.temporary.write("a/" + name, "the same")
                try world.temporary.setTime("a/" + name, 1_700_000_000, 0)
            }
            await expectCounts(try sync { _ in }, copied: 3, linked: nil)
            try expectInStep(world, [["x"], ["y"], ["z"]])
            try link(world, "b/x", "b/y")
            await expectCounts(try sync { _ in }, copied: 0, linked: 1)
            try expectInStep(world, [["x", "y"], ["z"]])
            try link(world, "a/x", "a/z")
            await expectCounts(try sync { _ in }, copied: 0, linked: 1)
            try expectInStep(world, [["x", "y", "z"]])
            try separate(world, "b/x")
            await expectCounts(try sync { _ in }, copied: 1, linked: nil)
            try expectInStep(world, [["x"], ["y", "z"]])
            await expectCounts(try sync { _ in }, copied: 0, linked: nil)
            // A time and a mode of a file with two names.
            try world.temporary.setTime("b/y", 1_600_000_000, 0)
            try world.temporary.setMode("b/y", 0o640)
            let described = try await sync { _ in }
            #expect(described.described == 2 && described.copied == 0 && described.isInStep, "\(described)")
            try expectInStep(world, [["x"], ["y", "z"]])
            // A renamed name stays one of its file.
            try world.temporary.rename("a/z", "a/w")
            await expectCounts(try sync { _ in }, copied: 0, linked: nil)
            try expectInStep(world, [["x"], ["y", "w"]])
        }
    }

    private func expectCounts(
        _ report: SyncReport, copied: Int, linked: Int?, _ place: SourceLocation = #_sourceLocation
    ) {
        #expect(
            report.copied == copied && report.linked == linked && report.isInStep, "\(report)", sourceLocation: place)
    }

    @Test("a mirror takes the links of A")
    func mirror() async throws {
        try await each { world, sync in
            try world.temporary.write("a/x", "the same")
            try world.temporary.write("a/y", "the same")
            await expectCounts(try sync { $0.mode = .mirror }, copied: 2, linked: nil)
            try link(world, "b/x", "b/y")
            _ = try await sync { $0.mode = .mirror }
            try expectInStep(world, [["x"], ["y"]])
            try link(world, "a/x", "a/y")
            _ = try await sync { $0.mode = .mirror }
            try separate(world, "b/y")
            _ = try await sync { $0.mode = .mirror }
            try expectInStep(world, [["x", "y"]])
        }
    }

    @Test("both versions of a conflict keep their links")
    func conflict() async throws {
        try await each { world, sync in
            try world.temporary.write("a/x", "first")
            try link(world, "a/x", "a/y")
            _ = try await sync { _ in }
            try append(world, "a/x", "of A")
            try append(world, "b/y", "and of B")
            let report = try await sync { _ in }
            #expect(report.conflicts.count == 2, "\(report)")
            #expect(world.difference() == [])
            #expect(try groups(world, "a").map(\.count).sorted() == [2, 2])
            let second = try await sync { _ in }
            #expect(second.copied == 0 && second.isInStep && second.linked == nil, "\(second)")
        }
    }

    @Test("a name outside of the folder keeps the old version, and the run says so")
    func outer() async throws {
        try await each { world, sync in
            try world.temporary.write("a/x", "first")
            _ = try await sync { _ in }
            try link(world, "b/x", "outer")
            _ = try await sync { _ in }
            try world.temporary.write("a/x", "second")
            let report = try await sync { _ in }
            #expect(report.copied == 1 && report.isInStep, "\(report)")
            #expect(report.notes?.count == 1 && report.notes?.first?.hasPrefix("B/x: ") == true, "\(report)")
            #expect(try world.temporary.read("b/x") == "second")
            #expect(try world.temporary.read("outer") == "first")
        }
    }

    @Test("a kill at a link leaves whole files, and the next run ends it")
    func kills() async throws {
        for step in [SyncStep.linked, .intended, .exchanged, .replaced, .recorded] {
            let world = try SyncWorld()
            try world.temporary.write("a/x", "first")
            for name in ["y", "z"] { try link(world, "a/x", "a/" + name) }
            #expect(try world.run().status == 0)
            try append(world, "a/x", " and more")
            for number in 1...4 {
                let killed = try world.run(killAt: "\(step.rawValue):\(number)")
                guard killed.status == 128 + SIGKILL else { break }
                for name in ["x", "y", "z"] {
                    #expect(
                        try ["first", "first and more"].contains(world.temporary.read("b/" + name)), "\(step) \(number)"
                    )
                }
            }
            let last = try world.run()
            #expect(last.status == 0, "\(step): \(last)")
            #expect(try groups(world, "b") == [["x", "y", "z"]], "\(step)")
            #expect(world.difference(folderTimes: false) == [], "\(step)")
            #expect(try world.leftovers() == [])
        }
    }
}
