import Backup
import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite("Damaged repositories")
struct DamageTests {
    /// A way to damage a file.
    enum Damage: CaseIterable, Sendable {
        case flipped
        case truncated
        case emptied
        case extended
        case removed
        case swapped
        case folder
        case pipe
        case link
    }

    /// The folders of a repository and its single files, by what a damage of them costs.
    private enum Worth {
        /// Needed: check reports each damage, and restore gives what is left.
        case needed
        /// A snapshot: as needed, but one that is missing is as one that was forgotten.
        case snapshot
        /// A copy of what the packs say: check reports each damage but a missing file. Nothing is lost.
        case index
        /// Of use for a time only: a damage costs nothing.
        case passing
    }

    private static func worth(_ name: String) -> Worth {
        switch name.split(separator: "/").first {
        case "snapshots": .snapshot
        case "index": .index
        case "doomed", "leases", "temporary", "reserve": .passing
        default: .needed
        }
    }

    /// A repository with several files of each kind. Two snapshots; the later one is `latest`.
    private func makeWorld() async throws -> BackupWorld {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: SeededGenerator.noise(300_000, seed: 2))
        try world.temporary.write("source/folder/text", String(repeating: "words and words\n", count: 3000))
        try world.temporary.write("source/folder/small", "small")
        try await world.backUp()
        try world.temporary.write("source/later/noise", bytes: SeededGenerator.noise(100_000, seed: 3))
        try await world.backUp()
        // What runs leave for a time: a mark of a pack that is gone, a dead lease, a half file.
        try world.temporary.write("repository/doomed/" + String(repeating: "ab", count: 32), "")
        try world.temporary.write("repository/leases/0123", "{}")
        try world.temporary.write("repository/temporary/0123", "half")
        return world
    }

    @Test("every region of every file: check reports it, and restore writes no wrong byte", arguments: Damage.allCases)
    func regions(damage: Damage) async throws {
        let world = try await makeWorld()
        let files = try world.files().filter { $0.hasPrefix(world.repositoryPath + "/") }
        let rooms = Set(files.map { Self.name($0, world).split(separator: "/")[0] })
        #expect(rooms == ["repository", "packs", "index", "snapshots", "doomed", "leases", "temporary", "reserve"])
        for room in ["packs", "index", "snapshots"] { #expect(try world.files("\(room)/").count >= 2) }
        var generator = SeededGenerator(seed: 5)
        for file in files {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
            for place in places(damage, Self.worth(Self.name(file, world)), bytes.count, &generator) {
                // A swap with a file of another kind says nothing about this one.
                if damage == .swapped, Self.worth(Self.name(file, world)) == .passing { continue }
                guard let undo = try apply(damage, to: file, bytes, at: place, files) else { continue }
                try await check(
                    world, damage, Self.name(file, world), "\(damage) \(Self.name(file, world)) byte \(place)")
                try undo()
                try? world.temporary.remove("target")
            }
        }
        // The damage was undone each time, so the repository is whole again.
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.verify() == [])
    }

    @Test(
        "a check, a prune and a restore that are cancelled report no damage", arguments: ["check", "prune", "restore"])
    func cancelled(run: String) async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        try await world.backUp()
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            switch run {
            case "check": _ = try await RepositoryCheck(world.open(), readingPercent: 100).run()
            case "prune": _ = try await PruneRun(world.open()).run()
            default: try await world.restore()
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try world.files("leases").isEmpty)
    }

    @Test("a repository whose folder of snapshots is missing is not taken for an empty one")
    func withoutSnapshots() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        try await world.backUp()
        let packs = try world.files("packs")
        try world.temporary.rename("repository/snapshots", "elsewhere")
        #expect(try await RepositoryCheck(world.open()).run().problems.count == 1)
        await #expect(throws: BackupError.self) { try await PruneRun(world.open()).run() }
        await #expect(throws: BackupError.self) { try await world.backUp() }
        await #expect(throws: BackupError.self) { try await world.restore() }
        #expect(try world.files("packs") == packs)
        try world.temporary.rename("elsewhere", "repository/snapshots")
        #expect(try await world.verify() == [])
    }

    @Test("a copy of a repository that lacks empty folders goes on")
    func withoutEmptyFolders() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        try await world.backUp()
        for name in ["temporary", "leases", "doomed"] { try world.temporary.remove("repository/\(name)") }
        try world.temporary.write("source/file", "other")
        try await world.backUp()
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.verify() == [])
    }

    @Test("'latest' is an error while a damaged snapshot may be the last one, and names still work")
    func latest() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        let first = try #require(try await world.backUp().snapshot.id).description
        try world.temporary.write("source/file", "later")
        let second = try #require(try await world.backUp().snapshot.id).description
        try world.temporary.write("repository/snapshots/\(second)", "damaged")
        let repository = try world.open()
        let error = #expect(throws: BackupError.self) { try repository.snapshot(named: "latest") }
        #expect(error?.description.contains("Give a name instead of 'latest'") == true)
        #expect(try repository.snapshot(named: first).id?.description == first)
        #expect(throws: BackupError.self) { try repository.snapshot(named: second) }
    }

    @Test("a prune clears a damaged file of the index away, as the packs say the same")
    func index() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        try await world.backUp()
        let file = try #require(world.files("index").first)
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try await RepositoryCheck(world.open()).run().problems.count == 1)
        _ = try await PruneRun(world.open()).run()
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.verify() == [])
    }

    @Test(
        "a backup does not count on a pack of another length than its index says, and stores anew what is gone",
        arguments: [-1, 2, 1_000_000])
    func otherLength(cut: Int) async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: SeededGenerator.noise(300_000, seed: 2))
        try await world.backUp()
        let pack = try #require(world.files("packs").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: pack))
        let length = cut < 0 ? whole.count - 1 : cut < whole.count ? whole.count / cut : whole.count + cut
        try (whole + Data(count: max(0, cut))).prefix(length).write(to: URL(fileURLWithPath: pack))
        let problems = try await RepositoryCheck(world.open()).run().problems
        #expect(problems.contains { $0.contains("is not as long as it was") }, "\(problems)")
        try await world.backUp()
        // Throws if anything of the new snapshot is not there.
        #expect(try await world.verify() == [])
    }

    // MARK: One damage

    private static func name(_ file: String, _ world: BackupWorld) -> String {
        String(file.dropFirst(world.repositoryPath.count + 1))
    }

    /// The bytes at which a damage is tried: both ends, which have marks, lengths and tags, and each region between.
    private func places(
        _ damage: Damage, _ worth: Worth, _ count: Int, _ generator: inout SeededGenerator
    ) -> [Int] {
        guard damage == .flipped || damage == .truncated else { return [0] }
        guard count > 0 else { return [] }
        let regions = worth == .passing ? 1 : damage == .flipped ? 12 : 6
        let inside = (0..<regions).map {
            $0 * count / regions + Int.random(in: 0..<max(1, count / regions), using: &generator)
        }
        let ends = worth == .passing ? [] : [0, 7, 8, count - 17, count - 5, count - 4, count - 1]
        return Set((inside + ends).map { min(max(0, $0), count - 1) }).sorted()
    }

    /// Damages a file. Returns what undoes it, or nil if this damage does not apply.
    private func apply(
        _ damage: Damage, to file: String, _ bytes: [UInt8], at place: Int, _ files: [String]
    ) throws -> (() throws -> Void)? {
        let url = URL(fileURLWithPath: file)
        switch damage {
        case .flipped:
            var changed = bytes
            changed[place] ^= UInt8(1 << (place % 8))
            try Data(changed).write(to: url)
        case .truncated: try Data(bytes.prefix(place)).write(to: url)
        case .emptied:
            guard !bytes.isEmpty else { return nil }
            try Data().write(to: url)
        case .extended: try Data(bytes + [0]).write(to: url)
        case .swapped:
            // With a sibling of the same kind: both are sound, and each is in the place of the other.
            let room = { (path: String) in path.split(separator: "/").dropLast(path.contains("/packs/") ? 2 : 1) }
            guard let other = files.first(where: { $0 != file && room($0) == room(file) }) else { return nil }
            let others = try Data(contentsOf: URL(fileURLWithPath: other))
            guard Array(others) != bytes else { return nil }
            try others.write(to: url)
            try Data(bytes).write(to: URL(fileURLWithPath: other))
            return {
                try Data(bytes).write(to: url)
                try others.write(to: URL(fileURLWithPath: other))
            }
        case .removed, .folder, .pipe, .link:
            try FileManager.default.removeItem(at: url)
            if damage == .folder {
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            }
            if damage == .pipe, unsafe mkfifo(file, 0o600) != 0 { throw CocoaError(.fileWriteUnknown) }
            if damage == .link, unsafe symlink("/dev/zero", file) != 0 { throw CocoaError(.fileWriteUnknown) }
            return {
                try? FileManager.default.removeItem(at: url)
                try Data(bytes).write(to: url)
            }
        }
        return { try Data(bytes).write(to: url) }
    }

    private func check(_ world: BackupWorld, _ damage: Damage, _ file: String, _ name: String) async throws {
        let worth = Self.worth(file)
        var isReported = false
        do {
            isReported = try await !RepositoryCheck(world.open(), readingPercent: 100).run().problems.isEmpty
        } catch is BackupError {
            isReported = true
        }
        let isSilent = worth == .passing || damage == .removed && (worth == .index || worth == .snapshot)
        #expect(isReported != isSilent, "check: \(name)")
        let report: RestoreReport
        do {
            report = try await world.restore()
        } catch let error as BackupError {
            #expect(worth == .needed || worth == .snapshot, "\(name): \(error)")
            return
        }
        let expected = TreePicture(world.source, times: false)
        let wrong = TreePicture(world.target, times: false).lines.filter {
            !expected.lines.contains($0) && $0.contains("hash")
        }
        #expect(wrong == [], "a wrong byte: \(name)")
        // Each file that is not there is named, alone or with a folder above it. A missing last snapshot is no damage.
        guard !(worth == .snapshot && damage == .removed) else { return }
        for missing in try missing(in: world) {
            let isNamed = report.problems.contains { problem in
                problem.hasPrefix("\(missing): ")
                    || Self.folders(of: missing).contains { problem.hasPrefix("\($0) with everything") }
            }
            #expect(isNamed, "\(missing) is not named: \(name): \(report.problems)")
        }
        if worth == .index || worth == .passing {
            #expect(report.problems == [], "\(name)")
            #expect(try missing(in: world) == [], "\(name)")
        }
    }

    private func missing(in world: BackupWorld) throws -> [String] {
        let files = try world.temporary.files()
        let restored = Set(files.filter { $0.hasPrefix("target/") }.map { $0.dropFirst("target/".count) })
        return files.filter { $0.hasPrefix("source/") }.map { String($0.dropFirst("source/".count)) }
            .filter { !restored.contains($0[...]) }
    }

    /// The folders above a path, as a restore names them.
    private static func folders(of path: String) -> [String] {
        let parts = path.split(separator: "/").dropLast()
        return ["the folder"] + parts.indices.map { parts[...$0].joined(separator: "/") }
    }
}
