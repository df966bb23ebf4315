import Backup
import Foundation
import SampleTestSupport
import Testing

@Suite("Damaged repositories")
struct DamageTests {
    /// A way to damage a file.
    enum Damage: CaseIterable, Sendable {
        case flipped
        case truncated
        case emptied
        case removed
        case swapped
    }

    @Test("every region of every file: check reports it, and restore writes no wrong byte", arguments: Damage.allCases)
    func regions(damage: Damage) async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: SeededGenerator.noise(300_000, seed: 2))
        try world.temporary.write("source/folder/text", String(repeating: "words and words\n", count: 3000))
        try world.temporary.write("source/folder/small", "small")
        try await world.backUp()
        let whole = TreePicture(world.source)
        let files = try ["repository/repository", "packs", "index", "snapshots"].flatMap { room in
            try world.files().filter { $0.hasPrefix(world.temporary["repository"] + "/" + room) || $0.hasSuffix(room) }
        }
        #expect(files.count >= 4)
        var generator = SeededGenerator(seed: 5)
        for file in Set(files).sorted() {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
            for region in 0..<(damage == .flipped ? 12 : damage == .truncated ? 6 : 1) {
                let place = region * bytes.count / 12 + Int.random(in: 0..<max(1, bytes.count / 12), using: &generator)
                try apply(damage, to: file, bytes, at: min(place, bytes.count - 1), files)
                let name = "\(damage) \(region) \(file.dropFirst(world.repositoryPath.count).prefix(12)) byte \(place)"
                try await verify(world, name, whole)
                try Data(bytes).write(to: URL(fileURLWithPath: file))
                try? world.temporary.remove("target")
            }
        }
        // The damage was undone each time, so the repository is whole again.
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
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

    private func apply(_ damage: Damage, to file: String, _ bytes: [UInt8], at place: Int, _ files: [String]) throws {
        let url = URL(fileURLWithPath: file)
        switch damage {
        case .flipped:
            var changed = bytes
            changed[place] ^= UInt8(1 << (place % 8))
            try Data(changed).write(to: url)
        case .truncated: try Data(bytes.prefix(place)).write(to: url)
        case .emptied: try Data().write(to: url)
        case .removed: try FileManager.default.removeItem(at: url)
        case .swapped:
            guard let other = files.first(where: { $0 != file }) else { return }
            try Data(contentsOf: URL(fileURLWithPath: other)).write(to: url)
        }
    }

    private func verify(_ world: BackupWorld, _ name: String, _ whole: TreePicture) async throws {
        var isReported = false
        do {
            let report = try await RepositoryCheck(world.open(), readingPercent: 100).run()
            // A repository without its only snapshot is empty, and whole.
            isReported = !report.problems.isEmpty || report.snapshots == 0
        } catch is BackupError {
            isReported = true
        }
        // A missing file of the index costs nothing: the packs have lists of their own.
        #expect(isReported || name.hasPrefix("removed 0 /index"), "check said nothing: \(name)")
        do {
            let report = try await world.restore()
            let now = TreePicture(world.target, times: false)
            let expected = TreePicture(world.source, times: false)
            let wrong = now.lines.filter { !expected.lines.contains($0) && $0.contains("hash") }
            #expect(wrong == [], "a wrong byte: \(name)")
            if report.problems.isEmpty {
                #expect(TreePicture(world.target).difference(from: whole) == [], "something is missing: \(name)")
            }
        } catch is BackupError {
            return
        }
    }
}
