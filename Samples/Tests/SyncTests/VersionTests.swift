import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import Sync

@Suite("Versions that a sync keeps")
struct VersionTests {
    private func kept(_ world: SyncWorld) throws -> [String] {
        try world.temporary.files().filter { $0.hasPrefix("old/") }
            .map { $0.split(separator: "/").dropFirst(2).joined(separator: "/") }.sorted()
    }

    @Test("what a removal or a new version takes is in the folder for it")
    func versions() async throws {
        let world = try SyncWorld()
        for name in ["d/edited", "d/removed", "stays", "more1", "more2"] {
            try world.temporary.write("a/\(name)", name)
        }
        try world.temporary.write("b/at B", "1")
        let place = world.temporary["old"]
        #expect(try await world.sync { $0.versions = place }.kept == 0)
        #expect(try kept(world) == [])
        try world.temporary.write("a/d/edited", "new")
        try world.temporary.remove("a/d/removed")
        try world.temporary.remove("b/at B")
        let report = try await world.sync { $0.versions = place }
        #expect(report.isInStep && report.kept == 3, "\(report)")
        #expect(try kept(world) == ["A/at B", "B/d/edited", "B/d/removed"])
        let file = try #require(world.temporary.files().first { $0.hasPrefix("old/") && $0.hasSuffix("edited") })
        #expect(try world.temporary.read(file) == "d/edited")
        #expect(try world.leftovers() == [])
    }

    @Test("versions go to another file system, too", .enabled(if: SmallDisk.isAvailable))
    func otherDisk() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 4)
        try world.temporary.write("a/f", "first")
        try world.temporary.makeLink("a/l", to: "first target")
        try world.temporary.makePipe("a/p")
        try world.temporary.setTime("a/f", 1_000_000_000, 5)
        try await world.sync()
        for name in ["f", "l", "p"] { try world.temporary.remove("a/\(name)") }
        try world.temporary.write("a/f", "second")
        let report = try await world.sync {
            $0.versions = disk.path
            $0.maximumDeletions = 100
        }
        #expect(report.isInStep && report.kept == 3, "\(report)")
        let lines = TreePicture(disk.path).lines
        #expect(lines.contains { $0.contains("time 1000000000.5 ") && $0.contains("size 5") })
        #expect(lines.contains { $0.contains(" -> ") } && lines.count == 6)
    }

    @Test("an old version that has no room stays beside the new one, with a line", .enabled(if: SmallDisk.isAvailable))
    func noRoom() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 1)
        try world.temporary.write("a/f", bytes: SeededGenerator.noise(3 << 20, seed: 1))
        try await world.sync()
        try world.temporary.write("a/f", "second")
        let report = try await world.sync { $0.versions = disk.path }
        #expect(report.skipped.count == 1 && report.skipped[0].contains("the old version is now"), "\(report)")
        #expect(try world.temporary.read("b/f") == "second")
        #expect(try world.temporary.files().contains { $0.hasPrefix("b/f.conflict-B") })
    }

    @Test("the place of versions is outside of both folders")
    func inside() throws {
        let world = try SyncWorld()
        var options = world.options
        options.versions = world.a + "/old"
        #expect(throws: SyncError.versionsInside(path: world.a + "/old", folder: world.a)) {
            _ = try SyncRun(a: world.a, b: world.b, options: options)
        }
    }
}
