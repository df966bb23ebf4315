import Backup
import Foundation
import Glibc
import SampleTestSupport
import Testing

/// A process of the command is killed right before each kind of call that changes a file.
@Suite("Kills at named points")
struct KillTests {
    private static let file = ["create", "write", "synchronize", "rename", "synchronize-names"]
    private static func calls(on places: String..., also more: [String] = []) -> [String] {
        places.flatMap { place in file.map { "\(place).\($0)" } } + more
    }

    private func run(_ world: BackupWorld, _ arguments: [String], killAt point: String) throws -> CommandRun {
        let environment = [
            "QOS_BACKUP_PASSWORD": String(decoding: BackupWorld.passphrase, as: UTF8.self), "QOS_BACKUP_KILL_AT": point,
        ]
        let all = [arguments[0], "-r", world.repositoryPath] + arguments.dropFirst()
        return try CommandRun("qos-backup", all, environment: environment, in: world.temporary)
    }

    /// Kills up to three runs, each at the next time that it comes to the point.
    private func kill(_ world: BackupWorld, _ arguments: [String], at point: String) async throws {
        var count = 0
        for number in 1...3 {
            let killed = try run(world, arguments, killAt: "\(point):\(number)")
            guard killed.status == 128 + SIGKILL else { break }
            count += 1
            let problems = try await RepositoryCheck(world.open(), readingPercent: 100).run().problems
            #expect(problems == [], "\(point) \(number)")
        }
        #expect(count > 0, "no run came to \(point)")
    }

    /// The next run is whole, and a prune removes what the killed ones left.
    private func finish(_ world: BackupWorld, _ place: String) async throws {
        try await world.backUp()
        #expect(try await world.verify() == [], "\(place)")
        let pruned = try await PruneRun(world.open()).run()
        #expect(pruned.waiting == 0, "\(place)")
        #expect(try world.leftovers() == [], "\(place)")
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [], "\(place)")
        #expect(try await world.verify() == [], "\(place)")
    }

    @Test(
        "of a backup: every snapshot of before stays, and the next run is whole",
        arguments: calls(
            on: "leases", "packs", "index", "snapshots", also: ["leases.remove"]))
    func backup(point: String) async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        let first = try await world.backUp().snapshot
        try await world.restore("before")
        try world.temporary.write("source/new", bytes: SeededGenerator.noise(70_000, seed: 7))
        try world.temporary.remove("source/text")
        try await kill(world, ["backup", world.source], at: point)
        let repository = try world.open()
        let name = try #require(first.id).description
        let old = try VerifyRun(repository, repository.snapshot(named: name), against: world.temporary["before"])
        #expect(try await old.run().differences == 0, "\(point)")
        try await finish(world, point)
    }

    @Test(
        "of a prune: what a snapshot needs stays, and the next prune removes the rest",
        arguments: calls(
            on: "leases", "packs", "index", "doomed",
            also: ["packs.remove", "index.remove", "doomed.remove", "temporary.remove", "leases.remove"]))
    func prune(point: String) async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        // One pack of waste alone, and one that is waste for the most part.
        for (seed, size) in [(UInt64(5), 1), (6, 5000)] {
            try world.temporary.write("source/waste", bytes: SeededGenerator.noise(50_000, seed: seed))
            try world.temporary.write("source/stays", bytes: SeededGenerator.noise(size, seed: seed))
            try await world.backUp()
        }
        try world.temporary.remove("source/waste")
        try await world.backUp()
        // What a killed run leaves.
        try world.temporary.write("repository/temporary/0123456789abcdef", "half of a pack")
        let snapshots = try world.open().snapshots().snapshots
        try world.open().forget(Array(snapshots.dropLast()))
        try await kill(world, ["prune"], at: point)
        #expect(try await world.verify() == [], "\(point)")
        try await finish(world, point)
    }

    @Test(
        "of a restore: no wrong byte is there, and the next run gives back the tree without leftovers",
        arguments: ["make", "create", "write", "link", "remove", "synchronize"])
    func restore(operation: String) async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        try await kill(world, ["restore", "latest", world.target], at: "target.\(operation)")
        if world.temporary.exists("target") {
            let wrong = try await world.verify("target").filter {
                [.content, .size, .kind, .target].contains($0.aspect)
            }
            #expect(wrong == [], "\(operation)")
        }
        let again = try run(world, ["restore", "latest", world.target], killAt: "")
        #expect(again.status == 0, "\(again)")
        #expect(TreePicture(world.target).difference(from: TreePicture(world.source)) == [], "\(operation)")
        try await finish(world, operation)
    }

    @Test(
        "of an init: it is run again",
        arguments: calls(on: "header", "reserve", also: ["folder.make", "folder.synchronize-names"]))
    func create(point: String) throws {
        let world = try BackupWorld()
        try world.temporary.remove("repository")
        #expect(try run(world, ["init"], killAt: point).status == 128 + SIGKILL)
        // The header is there if only its name was not put on the disk.
        if !world.temporary.exists("repository/repository") {
            let again = try run(world, ["init"], killAt: "")
            #expect(again.status == 0, "\(again)")
        }
        #expect(try world.open().snapshots().problems == [])
    }
}
