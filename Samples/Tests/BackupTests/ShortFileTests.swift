import Backup
import Foundation
import SampleTestSupport
import Testing

/// Files that are short, and therefore saved together.
@Suite("Short files")
struct ShortFileTests {
    @Test("files that change between the walk and their reading are saved as they are then")
    func changed() async throws {
        let world = try BackupWorld()
        for name in ["emptied", "gone", "grown", "linked", "same"] {
            try world.temporary.write("source/\(name)", "text of \(name)")
        }
        var calls = 0
        let report = try await BackupRun(world.open(), folder: world.source, options: world.options).run(breathe: {
            calls += 1
            guard calls == 5 else { return }
            try world.temporary.write("source/emptied", "")
            try world.temporary.remove("source/gone")
            // Longer than files that are saved together may be.
            try world.temporary.write("source/grown", bytes: SeededGenerator.noise(700_000, seed: 3))
            try world.temporary.remove("source/linked")
            try world.temporary.makeLink("source/linked", to: "same")
        })
        #expect(report.problems == [] && report.snapshot.files == 3)
        #expect(try await world.restore().problems == [])
        let restored = try FileManager.default.contentsOfDirectory(atPath: world.target)
        #expect(restored.sorted() == ["emptied", "grown", "same"])
        for name in restored {
            let there = try Data(contentsOf: URL(fileURLWithPath: world.temporary["source/\(name)"]))
            let back = try Data(contentsOf: URL(fileURLWithPath: world.temporary["target/\(name)"]))
            #expect(there == back, "\(name)")
        }
    }

    @Test("many files of all short sizes come back, and none is read again")
    func many() async throws {
        let world = try BackupWorld()
        var size = 0
        for number in 0..<60 {
            let bytes = SeededGenerator.noise(size, seed: UInt64(number + 1))
            try world.temporary.write("source/\(number % 7)/file\(number)", bytes: bytes)
            size = number % 20 == 19 ? 0 : size * 2 + number % 3
        }
        let report = try await world.backUp()
        #expect(report.snapshot.files == 60 && report.problems == [])
        #expect(try await world.verify() == [])
        #expect(try await world.backUp().unchanged == 60)
    }
}
