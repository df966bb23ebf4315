import Foundation
import GRDB
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync

/// A write within the time stamp's granule of the last look keeps length, times and inode, as in git's racy index.
@Suite("Files that changed right after the last look")
struct RacyFileTests {
    private func changeTime(_ path: String) throws -> Int64 {
        try #require(EntryStatus(Array(path.utf8), in: AT_FDCWD)).stamp.changed
    }

    @Test("times that did not change with the content do not hide it", arguments: Opposite.allCases)
    func hiddenChange(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.folder.write("a/f", "one")
        try pair.folder.setTime("a/f", 1000, 5)
        try await pair.sync()
        try pair.folder.write("a/f", "two")
        try pair.folder.setTime("a/f", 1000, 5)
        #expect(try await pair.sync().isInStep)
        #expect(try pair.folder.read("b/f") == "two")
    }

    /// The distance of the last look from the change, in nanoseconds, and whether the change is found.
    @Test(
        "a change that keeps all that a look sees is found if the last look was within the granule",
        arguments: [(0, true), (1_000_000, true), (19_000_000, true), (10_000_000_000, false)] as [(Int64, Bool)])
    func sameGranule(distance: Int64, isFound: Bool) async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "one")
        try world.temporary.write("b/f", "one")
        for side in ["a", "b"] { try world.temporary.setTime("\(side)/f", 1000, 5) }
        let changed = try changeTime(world.temporary["a/f"])
        #expect(try await world.sync { $0.now = { changed + distance } }.isInStep)

        // No call sets a change time. So the archive gets the new one: as if both writes had got the same.
        try world.temporary.overwrite("a/f", "two")
        try world.temporary.setTime("a/f", 1000, 5)
        let later = try changeTime(world.temporary["a/f"])
        let name = try #require(try world.temporary.files().first { $0.hasSuffix(".sqlite") })
        let queue = try DatabaseQueue(path: world.temporary[name])
        let count = try await queue.write { database in
            // B is as it was for sure: the doubt is about A alone.
            try database.execute(
                sql: "UPDATE entry SET changed_a = ?, racy_b = 0 WHERE changed_a = ?", arguments: [later, changed])
            return database.changesCount
        }
        try queue.close()
        #expect(count == 1)

        let report = try await world.sync()
        #expect(report.conflicts == [] && report.copied == (isFound ? 1 : 0), "\(report)")
        #expect(try world.temporary.read("b/f") == (isFound ? "two" : "one"))
        // The look of this run was late enough: it makes the file certain.
        #expect(try await world.sync().copied == 0)
    }

    @Test("a look right after a copy leaves no new doubt about the copy")
    func lookAfterCopy() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "one")
        try world.temporary.setTime("a/f", 1000, 5)
        // Each run looks at the very moment of the last change. The second one writes the first file down anew.
        for name in ["a/f", "b/f"] {
            let changed = try changeTime(world.temporary[name])
            #expect(try await world.sync { $0.now = { changed } }.isInStep)
        }
        try world.temporary.write("a/f", "two")
        let report = try await world.sync()
        #expect(report.isInStep && report.copied == 1, "\(report)")
        #expect(try world.temporary.read("b/f") == "two")
    }

    @Test("an archive of the first version gets the column of the digests, and keeps its rows")
    func olderArchive() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "one")
        try await world.sync()
        let name = try #require(try world.temporary.files().first { $0.hasSuffix(".sqlite") })
        let queue = try DatabaseQueue(path: world.temporary[name])
        try await queue.write { database in
            try database.execute(
                sql: """
                    ALTER TABLE entry DROP COLUMN digest; PRAGMA user_version = 1;
                    ALTER TABLE entry DROP COLUMN attributes_a; ALTER TABLE entry DROP COLUMN attributes_b;
                    """)
        }
        try queue.close()
        try world.temporary.remove("a/f")
        try world.temporary.write("a/g", "two")
        let report = try await world.sync { $0.maximumDeletions = 100 }
        #expect(report.isInStep && report.removed == 1 && report.copied == 1, "\(report)")
    }

    @Test("whole seconds leave a doubt of two seconds, other times one of 20 ms")
    func window() {
        func isRacy(changed: Int64, lookedAt time: Int64) -> Bool {
            let stamp = FileStamp(size: 1, modified: 1, changed: changed, inode: 1, device: 1)
            let entry = Observation(path: "f", kind: .regular, metadata: Metadata(mode: 0o600), stamp: stamp)
            return ArchiveEntry.SideState(entry, at: time).isRacy
        }
        let second: Int64 = 1_000_000_000
        let rows: [(changed: Int64, time: Int64, isRacy: Bool)] = [
            (100 * second, 100 * second, true), (100 * second, 102 * second, true),
            (100 * second, 102 * second + 1, false), (100 * second + 5, 100 * second + 5, true),
            (100 * second + 5, 100 * second + 20_000_005, true), (100 * second + 5, 100 * second + 20_000_006, false),
            // A clock that went back since.
            (200 * second + 5, 100 * second, true),
        ]
        for row in rows { #expect(isRacy(changed: row.changed, lookedAt: row.time) == row.isRacy, "\(row)") }
    }
}

extension TemporaryFolder {
    /// Writes into the file that is there, so that its inode stays.
    fileprivate func overwrite(_ name: String, _ text: String) throws {
        let file = unsafe open(self[name], O_WRONLY | O_TRUNC)
        try #require(file >= 0)
        defer { close(file) }
        #expect(unsafe Glibc.write(file, text, text.utf8.count) == text.utf8.count)
    }
}
