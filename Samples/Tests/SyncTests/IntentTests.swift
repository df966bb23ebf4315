import Foundation
import GRDB
import SampleTestSupport
import Testing

@testable import Sync

@Suite("The journal of a sync")
struct IntentTests {
    private func state(_ generator: inout SeededGenerator) -> Intent.State? {
        guard Bool.random(using: &generator) else { return nil }
        func number() -> Int64 { Int64.random(in: .min ... .max, using: &generator) }
        let metadata = Metadata(
            mode: .random(in: 0...0o7777, using: &generator), owner: .random(in: 0 ... .max, using: &generator),
            group: .random(in: 0 ... .max, using: &generator), modified: number())
        return Intent.State(
            ArchiveEntry.SideState(
                metadata: metadata, size: number(), changed: number(),
                inode: .random(in: 0 ... .max, using: &generator),
                isRacy: .random(using: &generator)))
    }

    private func intent(_ generator: inout SeededGenerator) -> Intent {
        func bytes() -> [UInt8] { (0..<Int.random(in: 0...300, using: &generator)).map { UInt8($0 & 0xFF) } }
        let work = [Intent.Work.put, .delete, .makeFolder].randomElement(using: &generator) ?? .put
        var intent = Intent(work: work, side: Bool.random(using: &generator) ? .a : .b, path: bytes())
        intent.temporary = bytes()
        intent.kind = "regular"
        intent.target = bytes()
        intent.digest = Bool.random(using: &generator) ? bytes() : nil
        intent.written = state(&generator)
        intent.source = state(&generator)
        intent.old = state(&generator)
        intent.oldKind = intent.old == nil ? "" : "directory"
        return intent
    }

    @Test("a record says what its intent says, and a part of it is no record")
    func records() throws {
        var generator = SeededGenerator(seed: 15)
        for _ in 0..<200 {
            let intent = intent(&generator)
            let record = intent.record
            #expect(try Intent(record: record) == intent)
            let part = Array(record.prefix(.random(in: 0..<record.count, using: &generator)))
            #expect(throws: WireError.self) { try Intent(record: part) }
            #expect(throws: WireError.self) { try Intent(record: record + [0]) }
        }
    }

    @Test("an archive of an earlier version keeps the intents of a killed run")
    func earlierVersion() throws {
        let folder = try TemporaryFolder()
        _ = try SyncArchive(in: folder["archive"], a: "/a", b: "/b")
        let path = try #require(try folder.files().first { $0.hasSuffix(".sqlite") })
        var generator = SeededGenerator(seed: 4)
        let intent = intent(&generator)
        try DatabaseQueue(path: folder[path]).write { database in
            let text = String(decoding: try JSONEncoder().encode(intent), as: UTF8.self)
            try database.execute(
                sql: """
                    DROP TABLE intent; CREATE TABLE intent (id INTEGER PRIMARY KEY, record TEXT NOT NULL);
                    ALTER TABLE entry DROP COLUMN attributes_a; ALTER TABLE entry DROP COLUMN attributes_b;
                    PRAGMA user_version = 2
                    """)
            try database.execute(sql: "INSERT INTO intent VALUES (7, ?)", arguments: [text])
        }
        for _ in 0..<2 {
            let intents = try SyncArchive(in: folder["archive"], a: "/a", b: "/b").intents()
            #expect(intents.map(\.id) == [7] && intents.map(\.intent) == [intent])
        }
    }
}
