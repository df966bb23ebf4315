import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Backup

@Suite("Backup and restore")
struct RoundTripTests {
    @Test("a tree of all kinds of entries comes back as it was")
    func zoo() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let before = TreePicture(world.source)
        let report = try await world.backUp()
        #expect(report.problems == [])
        let restored = try await world.restore()
        #expect(restored.problems == [])
        #expect(restored.incomplete == 0)
        let after = TreePicture(world.target)
        #expect(after.difference(from: before) == [])
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
    }

    @Test("a second run reads and stores nothing, and a changed file stores only what is new")
    func deduplication() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let first = try await world.backUp()
        let packs = try world.files("packs")
        let second = try await world.backUp()
        #expect(try world.files("packs") == packs)
        #expect(second.packs == 0)
        #expect(second.unchanged == first.snapshot.files)
        #expect(second.snapshot.root == first.snapshot.root)

        try world.temporary.write("source/copy", bytes: [9] + SeededGenerator.noise(3 << 20, seed: 4))
        let third = try await world.backUp()
        #expect(third.newBytes < 2 << 20, "\(third.newBytes) bytes of a shifted copy are new")
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }

    @Test("a restore goes on: what is there is not written again, and what is another stays")
    func resume() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try await world.backUp()
        try await world.restore()
        let again = try await world.restore()
        #expect(again.restored == 0)
        #expect(again.problems == [])

        try world.temporary.remove("target/large")
        try world.temporary.write("target/plain.txt", "mine")
        let third = try await world.restore()
        #expect(third.restored == 1)
        // The file and its hard link.
        #expect(third.problems.count == 2)
        #expect(try world.temporary.read("target/plain.txt") == "mine")

        var options = RestoreOptions()
        options.replaces = true
        #expect(try await world.restore("target", options).problems == [])
        #expect(try world.temporary.read("target/plain.txt").hasPrefix("a line"))
    }

    @Test("one entry is restored alone")
    func path() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try await world.backUp()
        var options = RestoreOptions()
        options.path = "deep/er"
        #expect(try await world.restore("part", options).problems == [])
        #expect(try world.temporary.files().filter { $0.hasPrefix("part") } == ["part/deep/er/still/file"])
        options.path = "deep/no"
        await #expect(throws: BackupError.unknownPath("deep/no")) { try await world.restore("none", options) }
        #expect(!world.temporary.exists("none"))
    }

    @Test("excluded entries are left out, and so is the repository itself")
    func excludes() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try world.temporary.write("source/deep/a.tmp", "")
        var options = world.options
        options.excludes = ["*.tmp", "deep/er", "/large"]
        try await world.backUp(options)
        let repository = try world.open()
        var names: [String] = []
        _ = try await repository.list(repository.snapshot(named: "latest")) { path, _ in names.append(path.description)
        }
        #expect(!names.contains { $0.hasPrefix("deep/er") || $0.hasSuffix(".tmp") || $0 == "large" })
        #expect(names.contains("deep/hard"))

        let whole = try await BackupRun(repository, folder: world.temporary.path, options: world.options).run()
        names = []
        _ = try await repository.list(whole.snapshot) { path, _ in names.append(path.description) }
        #expect(names.contains("source/large") && !names.contains { $0.hasPrefix("repository") })
    }

    @Test("a file that grows, and one that vanishes, while the folder is read")
    func changing() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/a", bytes: SeededGenerator.noise(2 << 20, seed: 1))
        for number in 0..<40 { try world.temporary.write("source/gone\(number)", "x") }
        let run = try BackupRun(world.open(), folder: world.source, options: world.options)
        var entries = 0
        let report = try await run.run(breathe: {
            // After the walk has begun, and before each entry is opened.
            entries += 1
            if entries == 2 { for number in 0..<40 { try? world.temporary.remove("source/gone\(number)") } }
            let file = unsafe open(world.temporary["source/a"], O_WRONLY | O_APPEND)
            _ = unsafe write(file, "y", 1)
            close(file)
        })
        #expect(report.problems.allSatisfy { $0.contains("changed while it was read") })
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.restore().problems == [])
    }

    @Test("an entry that cannot be read is reported, and the rest is saved")
    func unreadable() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/secret", "s")
        try world.temporary.write("source/open", "o")
        try world.temporary.setMode("source/secret", 0)
        let report = try await world.backUp()
        // Root reads everything.
        #expect(report.problems.count == (geteuid() == 0 ? 0 : 1))
        #expect(report.snapshot.problems == report.problems.count)
        #expect(report.snapshot.files == (geteuid() == 0 ? 2 : 1))
    }

    @Test("what cannot be opened says why")
    func opening() async throws {
        let world = try BackupWorld()
        #expect(throws: BackupError.wrongPassphrase(path: world.repositoryPath)) {
            try Repository.open(at: world.repositoryPath, passphrase: Array("wrong".utf8))
        }
        #expect(throws: BackupError.notARepository(path: world.source)) {
            try Repository.open(at: world.source, passphrase: [1])
        }
        #expect(throws: BackupError.notEmpty(path: world.repositoryPath)) {
            try Repository.create(at: world.repositoryPath, passphrase: [1])
        }
        #expect(throws: BackupError.emptyPassphrase) {
            try Repository.create(at: world.temporary["new"], passphrase: [])
        }
        #expect(throws: BackupError.unknownSnapshot("latest", matches: 0)) {
            try world.open().snapshot(named: "latest")
        }
        #expect(throws: TreeScanError.self) {
            try BackupRun(world.open(), folder: world.temporary["missing"])
        }
    }

    @Test("a header of a newer format, and a damaged one, are told from a wrong passphrase")
    func header() throws {
        let world = try BackupWorld()
        let file = "repository/repository"
        let line = try world.temporary.read(file).split(separator: "\n")[0]
        try world.temporary.write(file, line.replacing("\"version\":1", with: "\"version\":2") + "\n")
        #expect(throws: BackupError.self) { try world.open() }
        let newer = Array(line.replacing("\"version\":1", with: "\"version\":2").utf8)
        let sum = Identifier(file: newer).description
        try world.temporary.write(file, bytes: newer + Array("\n\(sum)\n".utf8))
        #expect(throws: BackupError.newerFormat(path: world.temporary[file], version: 2)) { try world.open() }
    }

    @Test("two runs at the same time both give a whole snapshot")
    func twoRuns() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        async let first = world.backUp()
        async let second = world.backUp()
        let names = try await [first.snapshot.shortName, second.snapshot.shortName]
        #expect(Set(names).count == 2)
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }
}
