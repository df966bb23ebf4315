import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Backup

/// Trees that people do not make, and other people do. `QOS_HOSTILE_SEEDS=1-1000` tries more of them.
@Suite("Hostile trees through backup, restore and verify", .timeLimit(.minutes(30)))
struct HostileTreeTests {
    @Test("what is there comes back equal, or is named", arguments: HostileTree.seeds)
    func roundTrip(seed: UInt64) async throws {
        let world = try BackupWorld()
        defer { for path in [world.source, world.target] { try? HostileTree.remove(path) } }
        try HostileTree(in: world.source, seed: seed)
        let before = TreePicture(world.source)
        let saved = try await world.backUp()
        let restored = try await world.restore()
        #expect(restored.problems == [], "seed \(seed)")
        let after = TreePicture(world.target)
        // Without the rights of root an owner or a mode may not be possible, and unreadable entries are not saved.
        let lost = before.difference(from: after).filter { $0.hasPrefix("+ ") }
        let named = saved.problems.count + restored.incomplete
        // A file counts once, whatever the number of its names.
        let files = Set(lost.map { line in line.split(separator: "<").dropFirst().first.map { "<" + $0 } ?? line[...] })
        #expect(files.count <= named, "seed \(seed): \(lost) beside \(saved.problems)")
        if geteuid() == 0 { #expect(saved.problems == [] && lost == [], "seed \(seed)") }
        var differences: [Difference] = []
        let repository = try world.open()
        let run = try VerifyRun(repository, repository.snapshot(named: "latest"), against: world.target)
        let report = try await run.run(found: { differences.append($0) })
        #expect(report.damage == [])
        #expect(differences.count <= restored.incomplete, "seed \(seed): \(differences)")
        // A second run finds all as it is.
        let again = try await world.backUp()
        #expect(again.snapshot.files == saved.snapshot.files && again.packs == 0, "seed \(seed)")
    }

    @Test("files of any size and time are saved, and no sum of sizes traps")
    func extremes() async throws {
        let world = try BackupWorld()
        for (name, seconds) in [
            ("first", Int.min), ("last", Int.max), ("1600", -11_676_096_000), ("2300", 10_413_792_000),
        ] {
            try world.temporary.write("source/\(name)", "x")
            try world.temporary.setTime("source/\(name)", seconds, 999_999_999)
        }
        // Two of these have more bytes than an Int64 counts; a file system may refuse the size.
        for name in ["huge", "huge too"] { try? world.temporary.makeSparse("source/\(name)", "h", size: 1 << 62) }
        let report = try await world.backUp()
        #expect(report.problems == [] && report.snapshot.bytes >= 0)
        #expect(try await world.restore().problems == [])
        for name in ["1600", "2300", "first", "last"] {
            let (old, new) = (try stamp(world.source + "/" + name), try stamp(world.target + "/" + name))
            #expect(old.modified == new.modified, "\(name)")
        }
    }

    private func stamp(_ path: String) throws -> FileStamp {
        try #require(EntryStatus(Array(path.utf8), in: AT_FDCWD)).stamp
    }
}
