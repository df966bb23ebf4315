import Foundation
import Glibc
import SampleTestSupport
import Synchronization
import Testing

@testable import Backup

/// Packs on their way to the disk.
@Suite("Packs that are being written")
struct PackTests {
    private static let noise = SeededGenerator.noise(5 << 20, seed: 4)

    @Test("a pack goes to the disk while it is being filled, in pieces")
    func pieces() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: Self.noise)
        let calls = Mutex<[StorageCall.Operation]>([])
        let repository = try world.open(before: { call in
            if call.place == .packs { calls.withLock { $0.append(call.operation) } }
            return 0
        })
        let report = try await BackupRun(repository, folder: world.source, options: world.options).run()
        #expect(report.packs == 1)
        let made = calls.withLock { $0 }
        #expect(made.first == .create)
        #expect(made.suffix(3) == [.synchronize, .rename, .synchronizeNames])
        #expect(made.dropFirst().dropLast(3).allSatisfy { $0 == .write } && made.count >= 7)
        #expect(try await RepositoryCheck(repository, readingPercent: 100).run().problems == [])
        #expect(try await world.verify() == [])
    }

    @Test("a pack of which one piece cannot be written is given up, and leaves no file", arguments: [1, 2, 4])
    func broken(piece: Int) async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: Self.noise)
        let count = Mutex(0)
        let repository = try world.open(before: { call in
            guard call.place == .packs, call.operation == .write else { return 0 }
            return count.withLock { count in
                count += 1
                return count == piece ? EIO : 0
            }
        })
        await #expect(throws: BackupError.self) {
            try await BackupRun(repository, folder: world.source, options: world.options).run()
        }
        #expect(try world.files("packs").isEmpty && world.leftovers() == [])
        #expect(try await world.backUp().problems == [])
        #expect(try await world.verify() == [])
    }

    @Test("a piece that is cancelled takes a pack with it, and then no index is written as if it were there")
    func cancelled() async throws {
        let world = try BackupWorld()
        let storing = Mutex<Task<Void, any Error>?>(nil)
        let repository = try world.open(before: { call in
            // The first blob is on its way to the disk, and the next piece is not begun any more.
            if call.place == .packs, call.operation == .write { storing.withLock { $0 }?.cancel() }
            return 0
        })
        let sink = try BlobSink(repository, known: BlobIndex(), unlisted: [])
        _ = try await sink.store([Array("of another file".utf8)])
        let pieces = [Array(Self.noise[..<(3 << 19)]), Array(Self.noise[(3 << 19)..<(3 << 20)])]
        let task = Task<Void, any Error> {
            while storing.withLock({ $0 == nil }) { await Task.yield() }
            _ = try await sink.store(pieces)
        }
        storing.withLock { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: BackupError.self) { try await sink.flush() }
        #expect(try world.files("index").isEmpty)
    }

    @Test("a prune leaves the file of a run that began after it looked at the leases")
    func beside() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: SeededGenerator.noise(50_000, seed: 1))
        let first = try await world.backUp().snapshot
        try world.open().forget([first])
        try world.temporary.write("repository/temporary/dead", "of a run that was killed")
        let report = try await PruneRun(
            world.open(before: { call in
                // The first removal comes after the look.
                if call.place == .packs, call.operation == .remove {
                    try? world.temporary.write("repository/temporary/alive", "of a run that began now")
                }
                return 0
            })
        ).run()
        #expect(report.removed == 1)
        #expect(try world.leftovers() == [world.temporary["repository/temporary/alive"]])
    }

    @Test("a backup whose file a prune removed ends with an error, and the next one is whole")
    func removed() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: Self.noise)
        let repository = try world.open(before: { call in
            // As after a halt of more than two minutes.
            if call.place == .packs, call.operation == .synchronize {
                for file in (try? world.files("temporary")) ?? [] { _ = unsafe unlink(file) }
            }
            return 0
        })
        await #expect(throws: BackupError.leaseLost) {
            try await BackupRun(repository, folder: world.source, options: world.options).run()
        }
        #expect(try await world.backUp().problems == [])
        #expect(try await world.verify() == [])
    }

    @Test("the reserve is small at first, and large in a repository of many packs")
    func reserve() throws {
        let world = try BackupWorld()
        let folder = try #require(try world.open().folder.storage as? LocalStorage)
        let small = try #require(folder.size(folder.reserve))
        #expect((64 << 10..<1 << 20).contains(small))
        folder.growReserve(packs: LocalStorage.manyPacks - 1)
        #expect(folder.size(folder.reserve) == small)
        folder.growReserve(packs: LocalStorage.manyPacks)
        #expect(folder.size(folder.reserve) == 1 << 20)
        try folder.freeReserve()
        folder.growReserve(packs: LocalStorage.manyPacks)
        #expect(folder.size(folder.reserve) == nil)
        try folder.makeReserve(packs: 0)
        #expect(folder.size(folder.reserve) == small)
    }
}
