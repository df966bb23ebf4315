import Foundation
import Glibc
import Indexing
import SampleTestSupport
import Testing

@Suite("Full disk", .serialized, .enabled(if: SmallDisk.isAvailable, "mounting needs CAP_SYS_ADMIN"))
struct FullDiskTests {
    @Test("a disk that fills up pauses the pass, loses nothing, and the pass goes on when there is room")
    func pausesAndGoesOn() throws {
        let world = try IndexWorld()
        var random = WordWorld(seed: 11)
        _ = try random.populate(world.folder, files: 400, words: 200)
        let disk = try SmallDisk(at: world.state, megabytes: 8)
        let ballast = disk.path + "/ballast"
        try Data(repeating: 1, count: 6_500_000).write(to: URL(fileURLWithPath: ballast))
        let directory = disk.path + "/index"
        let index = try SearchIndex(folder: world.folder.path, directory: directory, options: world.settings())
        let pass = try index.makePass()
        var outcome = StepOutcome.progress
        while outcome == .progress { outcome = try pass.step(limit: BatchLimit(documents: 10)) }
        guard case .paused(let reason) = outcome else {
            Issue.record("the disk did not fill up")
            return
        }
        #expect(reason == .diskFull)
        #expect(index.status.counts.indexed > 0)
        #expect(try index.hitSets().values.contains { !$0.isEmpty }, "searches go on")
        try FileManager.default.removeItem(atPath: ballast)
        while try pass.step() != .finished {}
        #expect(try index.hitSets() == world.oracle())
        try index.close()
        #expect(try SearchIndex.integrity(of: directory + "/index.sqlite") == ["ok"])
    }

    @Test("an index is closed on a full disk, and opened again when there is room")
    func closesAndOpens() throws {
        let world = try IndexWorld()
        var random = WordWorld(seed: 12)
        _ = try random.populate(world.folder, files: 400, words: 200)
        let disk = try SmallDisk(at: world.state, megabytes: 2)
        let directory = disk.path + "/index"
        let index = try SearchIndex(folder: world.folder.path, directory: directory, options: world.settings())
        let pass = try index.makePass()
        var outcome = StepOutcome.progress
        while outcome == .progress { outcome = try pass.step(limit: BatchLimit(documents: 10)) }
        let counts = index.status.counts
        #expect(outcome == .paused(.diskFull))
        try index.close()
        try disk.grow(megabytes: 16)
        let again = try SearchIndex(folder: world.folder.path, directory: directory, options: world.settings())
        #expect(again.status.counts == counts)
        #expect(try again.runPass().settled == counts.pending)
        #expect(try again.hitSets() == world.oracle())
    }
}
