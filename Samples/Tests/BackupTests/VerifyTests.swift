import Backup
import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@Suite("Verify")
struct VerifyTests {
    /// A world with a saved zoo, and the differences of a folder from its snapshot.
    private func compare(
        _ world: BackupWorld, _ folder: String, _ options: VerifyOptions = VerifyOptions()
    ) async throws -> (report: VerifyReport, differences: [Difference]) {
        let repository = try world.open()
        let snapshot = try repository.snapshot(named: "latest")
        var differences: [Difference] = []
        let run = try VerifyRun(repository, snapshot, against: world.temporary[folder], options: options)
        let report = try await run.run(found: { differences.append($0) })
        #expect(report.differences == differences.count)
        return (report, differences)
    }

    @Test("the saved folder and a restored one are as the snapshot, and nothing is changed")
    func same() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let saved = try await world.backUp()
        try await world.restore()
        let before = try world.files()
        for folder in ["source", "target"] {
            let (report, differences) = try await compare(world, folder)
            #expect(differences == [])
            #expect(report.damage == [] && report.unreadable == [])
            #expect(report.bytes == saved.snapshot.bytes && report.entries > saved.snapshot.files)
        }
        #expect(try world.files() == before)
    }

    @Test(
        "times are shown as dates, with all their digits",
        arguments: [
            (0, 5, "1970-01-01T00:00:00.000000005Z"), (1_764_052_376, 120_000_000, "2025-11-25T06:32:56.120000000Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
        ])
    func dates(seconds: Int, nanoseconds: Int, text: String) async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        try world.temporary.setTime("source/file", seconds, nanoseconds)
        _ = try await world.backUp()
        try world.temporary.setTime("source/file", 1, 2)
        let differences = try await compare(world, "source").differences
        #expect(differences.map(\.detail) == ["its time is 1970-01-01T00:00:01.000000002Z, and was \(text)"])
    }

    /// One change of a restored zoo, and the differences that it makes.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        let differences: Set<String>
        let apply: @Sendable (BackupWorld) throws -> Void

        init(_ name: String, _ differences: Set<String>, _ apply: @escaping @Sendable (BackupWorld) throws -> Void) {
            self.name = name
            self.differences = differences
            self.apply = apply
        }

        var testDescription: String { name }
    }

    private static func write(_ name: String, at offset: Int, _ byte: UInt8) -> @Sendable (BackupWorld) throws -> Void {
        { world in
            let path = world.temporary["target/\(name)"]
            var status = stat()
            let file = unsafe open(path, O_WRONLY)
            defer { close(file) }
            let isWritten = unsafe withUnsafeBytes(of: byte) { unsafe pwrite(file, $0.baseAddress, 1, offset) } == 1
            // The time stays, so that only the content tells.
            guard unsafe lstat(world.temporary["source/\(name)"], &status) == 0, isWritten,
                unsafe futimens(file, [status.st_atim, status.st_mtim]) == 0
            else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    static let changes: [Change] = [
        Change("a byte in the last chunk", ["large content"], write("large", at: (3 << 20) - 1, 1)),
        Change("a byte in a hole", ["hole content"], write("hole", at: 700_000, 1)),
        Change("a byte in front of a hole", ["sparse content"], write("sparse", at: 0, 1)),
        Change("a longer file", ["deep/er/still/file size", "deep/er/still/file time"]) {
            try $0.temporary.write("target/deep/er/still/file", "down here, longer")
        },
        Change("a missing folder", ["deep/er missing", "deep time"]) { try $0.temporary.remove("target/deep/er") },
        Change("a new folder", ["new added", ". time"]) { try $0.temporary.write("target/new/file", "n") },
        Change("a folder in place of a file", ["large kind", ". time"]) {
            try $0.temporary.remove("target/large")
            try $0.temporary.makeFolder("target/large")
        },
        Change("another target", ["link target", "link time", ". time"]) {
            try $0.temporary.remove("target/link")
            try $0.temporary.makeLink("target/link", to: "large")
        },
        Change("another mode", ["empty mode"]) { try $0.temporary.setMode("target/empty", 0o640) },
        Change("one nanosecond", ["large time"]) { world in
            var status = stat()
            guard unsafe lstat(world.temporary["target/large"], &status) == 0 else { return }
            let time = status.st_mtim
            try world.temporary.setTime("target/large", time.tv_sec, time.tv_nsec ^ 1)
        },
        Change("no longer one file", ["plain.txt links", "deep time"]) { world in
            let bytes = try Data(contentsOf: URL(fileURLWithPath: world.temporary["target/plain.txt"]))
            var status = stat()
            _ = unsafe lstat(world.temporary["target/plain.txt"], &status)
            try world.temporary.remove("target/deep/hard")
            try world.temporary.write("target/deep/hard", bytes: Array(bytes))
            try world.temporary.setMode("target/deep/hard", UInt32(status.st_mode & 0o7777))
            try world.temporary.setTime("target/deep/hard", status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
            // As far as the file system has attributes.
            world.copyAttribute("user.note", from: "target/plain.txt", to: "target/deep/hard")
        },
    ]

    @Test("each change is found, and only it", arguments: changes)
    func finds(change: Change) async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try await world.backUp()
        try await world.restore()
        try change.apply(world)
        let found = try await compare(world, "target").differences
        let names = Set(found.map { "\($0.path == .root ? "." : $0.path.description) \($0.aspect)" })
        #expect(names == change.differences, "\(found)")
    }

    @Test("excluded entries, sockets and the repository do not count, and one entry is compared alone")
    func leavesOut() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/folder/file", "text")
        try world.temporary.write("source/folder/a.tmp", "t")
        var saving = world.options
        saving.excludes = ["*.tmp"]
        // The folder above holds the repository itself.
        _ = try await BackupRun(world.open(), folder: world.temporary.path, options: saving).run()
        var options = VerifyOptions()
        #expect(try await compare(world, ".", options).differences.map(\.aspect) == [.added])
        options.excludes = ["*.tmp"]
        #expect(try await compare(world, ".", options).differences == [])
        try world.temporary.write("source/other", "o")
        options.path = "source/folder"
        let (report, differences) = try await compare(world, ".", options)
        #expect(differences == [] && report.entries == 2)
        options.path = "source/none"
        await #expect(throws: BackupError.unknownPath("source/none")) { try await compare(world, ".", options) }
    }

    @Test("what the repository lost, and what cannot be read, is named and counts as not compared")
    func damaged() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/noise", bytes: SeededGenerator.noise(17 << 20, seed: 1))
        try world.temporary.write("source/small", "small")
        try await world.backUp()
        let sizes = try world.files("packs").map { ($0, try Data(contentsOf: URL(fileURLWithPath: $0)).count) }
        let pack = try #require(sizes.max { $0.1 < $1.1 }).0
        var bytes = try Data(contentsOf: URL(fileURLWithPath: pack))
        bytes[100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: pack))
        try world.temporary.setMode("source/small", 0)
        let (report, differences) = try await compare(world, "source")
        // Root reads everything.
        #expect(report.unreadable.count == (geteuid() == 0 ? 0 : 1))
        #expect(differences.map(\.aspect) == (geteuid() == 0 ? [.mode] : []))
        #expect(report.damage.count == 1 && report.damage[0].hasPrefix("noise: blob"), "\(report.damage)")
    }
}
