import Foundation
import SampleTestSupport
import Synchronization
import Testing

@testable import Sync

@Suite("Waits for the disk", .timeLimit(.minutes(5)))
struct DiskWaitTests {
    @Test(
        "one wait for all takes along at most 128 KiB of others for each file",
        arguments: [
            (1, 0, false), (2, 0, true), (2, 256 << 10, true), (2, (256 << 10) + 1, false), (8000, 1000 << 20, true),
            (8000, 1001 << 20, false), (8000, nil, false),
        ] as [(Int, Int64?, Bool)])
    func choice(count: Int, others: Int64?, isOne: Bool) {
        #expect(SyncChoice.isOneWaitBetter(for: count, others: others) == isOne)
    }

    @Test("the kernel's count of unwritten bytes is read, and nothing is known without it")
    func unwritten() throws {
        let folder = try TemporaryFolder()
        #expect(SyncChoice.unwrittenBytes(root: folder[""]) == nil)
        try folder.write("meminfo", "MemTotal:  900 kB\nDirty:    12 kB\nWriteback:   3 kB\nWritebackTmp: 5 kB\n")
        #expect(SyncChoice.unwrittenBytes(root: folder[""]) == 15 << 10)
    }

    /// Syncs, and counts the waits.
    private func waits(
        _ world: SyncWorld, _ change: (inout DiskAccess) -> Void
    ) async throws -> [DiskAccess.Wait: Int] {
        let counts = Mutex<[DiskAccess.Wait: Int]>([:])
        var disk = DiskAccess()
        disk.covers = { _ in true }
        disk.unwrittenBytes = { 0 }
        disk.waits = { wait in counts.withLock { $0[wait, default: 0] += 1 } }
        change(&disk)
        let access = disk
        let report = try await world.sync {
            $0.disk = access
            // One batch, also on a busy machine.
            $0.longestBatch = .seconds(3600)
        }
        #expect(report.isInStep, "\(report)")
        #expect(world.difference() == [])
        return counts.withLock { $0 }
    }

    private func makeFiles(_ world: SyncWorld, _ text: String) throws {
        for number in 0..<60 { try world.temporary.write("a/d\(number % 4)/f\(number)", "\(text) \(number)") }
    }

    @Test("a run waits for contents and for names once each, however many files it copies")
    func two() async throws {
        let world = try SyncWorld()
        try makeFiles(world, "first")
        #expect(try await waits(world) { _ in } == [.volume: 2])
        try makeFiles(world, "second, longer")
        #expect(try await waits(world) { _ in } == [.volume: 2])
        #expect(try await waits(world) { _ in } == [:])
    }

    @Test("where syncfs is not enough, a run waits for each file and each folder")
    func uncovered() async throws {
        let world = try SyncWorld()
        try makeFiles(world, "first")
        let first = try await waits(world) { $0.covers = { _ in false } }
        #expect(first[.file] == 60, "\(first)")
        // The root and four folders, after the wait for all that comes with many of them.
        #expect((first[.entry] ?? 0) >= 5, "\(first)")
        try world.temporary.write("a/d1/f1", "changed")
        try world.temporary.remove("a/d2/f2")
        try world.temporary.setMode("a/d3/f3", 0o600)
        let second = try await waits(world) { $0.covers = { _ in false } }
        #expect(second[.file] == 1 && (second[.entry] ?? 0) >= 3, "\(second)")
    }

    @Test("beside a program that writes much, a run waits for its own files only")
    func others() async throws {
        let world = try SyncWorld()
        try makeFiles(world, "first")
        let counts = try await waits(world) { $0.unwrittenBytes = { 1 << 30 } }
        #expect(counts[.volume] == nil && counts[.file] == 60, "\(counts)")
    }

    @Test("a batch keeps neither its files nor their folders open, so its size needs no descriptors")
    func descriptors() async throws {
        let world = try SyncWorld()
        for number in 0..<100 { try world.temporary.write("a/d\(number)/f", "\(number)") }
        let open = Mutex(0)
        try await world.sync { options in
            options.reached = { step in
                guard step == .synchronized else { return }
                let place = "/proc/self/fd"
                let numbers = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
                let paths = numbers.compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(place)/\($0)")
                }
                let count = paths.count { $0.hasPrefix(world.a + "/") || $0.hasPrefix(world.b + "/") }
                open.withLock { $0 = max($0, count) }
            }
        }
        // The folder of the last step stays open.
        #expect(open.withLock { $0 } <= 2)
    }
}
