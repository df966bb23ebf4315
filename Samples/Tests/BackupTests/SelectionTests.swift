import Foundation
import SampleTestSupport
import Testing
import TreeScan

@testable import Backup

@Suite("The snapshot that a person means")
struct SelectionTests {
    private static let day: Int64 = 86_400_000_000_000
    private static let now: Int64 = 20_000 * day

    private func snapshot(_ time: Int64, _ folder: String = "/f", _ host: String = "h", tags: [String] = []) -> Snapshot
    {
        var snapshot = Snapshot(
            time: time, host: host, folders: [folder], root: [], files: 0, bytes: 0, problems: 0, tags: tags)
        snapshot.id = Identifier(file: Array("\(time) \(folder) \(host)".utf8))
        return snapshot
    }

    @Test("the latest is that of the folder and the machine that are named, and of no other")
    func latest() throws {
        let all = [snapshot(1, "/f"), snapshot(2, "/g"), snapshot(3, "/f", "other"), snapshot(4, "/f", tags: ["x"])]
        var filter = SnapshotFilter()
        #expect(throws: BackupError.latestIsAmbiguous(places: ["/f of h", "/f of other", "/g of h"])) {
            try filter.last(of: all, at: Self.now)
        }
        filter.folders = ["/f"]
        #expect(throws: BackupError.self) { try filter.last(of: all, at: Self.now) }
        filter.host = "h"
        #expect(try filter.last(of: all, at: Self.now)?.time == 4)
        filter.tags = ["x", "y"]
        #expect(try filter.last(of: all, at: Self.now) == nil)
        filter.tags = []
        filter.folders = ["/g"]
        #expect(try filter.last(of: all, at: Self.now)?.time == 2)
    }

    @Test("a snapshot of the future is the latest only if there is no other, and makes no other go")
    func future() throws {
        let later = snapshot(Self.now + 5 * 365 * Self.day)
        let all = [snapshot(Self.now - Self.day), snapshot(Self.now - 1), later]
        #expect(try SnapshotFilter().last(of: all, at: Self.now)?.time == Self.now - 1)
        #expect(try SnapshotFilter().last(of: [later], at: Self.now) == later)
        var policy = RetentionPolicy()
        policy.last = 1
        #expect(policy.toForget(all, at: Self.now).map(\.time) == [Self.now - Self.day])
        policy.last = 0
        policy.yearly = 1
        #expect(policy.toForget(all, at: Self.now).map(\.time) == [Self.now - Self.day])
        // A clock that is a minute ahead is right enough.
        #expect(!snapshot(Self.now + 60_000_000_000).isOfFuture(at: Self.now))
    }

    @Test("hours, and a time before the last one, keep their snapshots")
    func rules() throws {
        let hour: Int64 = 3_600_000_000_000
        let all = (0..<100).map { snapshot(Self.now - Int64($0) * hour / 2) }
        var policy = RetentionPolicy()
        policy.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        func kept() -> Int { all.count - policy.toForget(all, at: Self.now).count }
        policy.hourly = 5
        #expect(kept() == 5)
        policy.hourly = 0
        policy.within = RetentionPolicy.Span("10h")
        #expect(kept() == 21)
        policy.within = RetentionPolicy.Span("1d")
        #expect(kept() == 49)
        for text in ["", "5", "d", "5x", "-1d", "1d2d", "999999999999d"] {
            #expect(RetentionPolicy.Span(text) == nil, "\(text)")
        }
        #expect(RetentionPolicy.Span("3w1y")?.description == "1y3w")
        let stored = try JSONEncoder().encode(policy)
        #expect(try JSONDecoder().decode(RetentionPolicy.self, from: stored) == policy)
    }

    @Test("a policy and a snapshot of an earlier version can be read")
    func earlierVersions() throws {
        let zone = try JSONEncoder().encode(TimeZone.current)
        let old =
            #"{"last":1,"daily":2,"weekly":3,"monthly":4,"yearly":5,"timeZone":"#
            + String(decoding: zone, as: UTF8.self) + "}"
        let policy = try JSONDecoder().decode(RetentionPolicy.self, from: Data(old.utf8))
        #expect(policy.last == 1 && policy.yearly == 5 && policy.hourly == 0 && policy.within == nil)
        let text = #"{"time":5,"host":"h","folder":"/f","root":[],"files":1,"bytes":2,"problems":0}"#
        #expect(try JSONDecoder().decode(Snapshot.self, from: Data(text.utf8)).tags == [])
    }

    @Test("two snapshots are compared, and a file of one is written out with its holes")
    func compare() async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try world.temporary.write("source/gone", "g")
        let first = try await world.backUp().snapshot
        try world.temporary.remove("source/gone")
        try world.temporary.write("source/text", "other")
        try world.temporary.write("source/folder/new/one", "n")
        try world.temporary.setMode("source/link".replacing("link", with: "one"), 0o600)
        let second = try await world.backUp().snapshot
        let repository = try world.open()
        var lines: [String] = []
        #expect(try await repository.compare(first, second) { lines.append("\($0)") } == [])
        for line in ["-  gone", "M  text", "+  folder/new", "+  folder/new/one", "U  one", "U  two"] {
            #expect(lines.contains(line), "\(line) in \(lines)")
        }
        #expect(!lines.contains { $0.contains("noise") || $0.contains("sparse") })
        var bytes: [UInt8] = []
        try await repository.dump("folder/sparse", of: second) { bytes += $0 }
        #expect(
            bytes.count == 1 << 20 && bytes.starts(with: Array("head".utf8)) && !bytes.dropFirst(4).contains { $0 != 0 }
        )
        await #expect(throws: BackupError.notAFile("folder")) {
            try await repository.dump("folder", of: second) { _ in }
        }
        await #expect(throws: BackupError.unknownPath("no")) { try await repository.dump("no", of: second) { _ in } }
    }

    @Test("a passphrase is changed, a second one is added, and one of them is removed")
    func passphrases() throws {
        let world = try BackupWorld()
        func open(_ text: String) throws -> Repository {
            try Repository.open(at: world.repositoryPath, passphrase: Array(text.utf8))
        }
        let repository = try world.open()
        #expect(throws: BackupError.emptyPassphrase) { try repository.changePassphrase(to: [], cost: .none) }
        try repository.changePassphrase(to: Array("new".utf8), cost: .none)
        #expect(throws: BackupError.wrongPassphrase(path: world.repositoryPath)) { try world.open() }
        let second = try open("new").addPassphrase(Array("second".utf8), cost: .none)
        #expect(try open("second").keys.name(of: [1]) == repository.keys.name(of: [1]))
        #expect(try open("second").passphrases().map(\.isCurrent) == [false, true])
        #expect(throws: BackupError.lastKey) { try open("second").removePassphrase(named: second.name) }
        #expect(throws: BackupError.unknownKey("x", matches: 0)) { try open("new").removePassphrase(named: "x") }
        // The first one goes: the second takes its place.
        try open("second").removePassphrase(named: "repository")
        #expect(throws: BackupError.self) { try open("new") }
        #expect(try open("second").passphrases().map(\.name) == ["repository"])
        #expect(throws: BackupError.lastKey) { try open("second").removePassphrase(named: "repository") }
    }

    @Test("a dry run tells what it would save, and writes nothing")
    func dryRun() async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        let before = TreePicture(world.repositoryPath)
        var options = world.options
        options.isDryRun = true
        let report = try await world.backUp(options)
        #expect(report.snapshot.files == 5 && report.newBytes > 30_000 && report.packs == 0)
        #expect(TreePicture(world.repositoryPath) == before)
    }

    @Test("a pattern that names an entry by its whole path says how to write it")
    func absolutePattern() throws {
        let world = try BackupWorld()
        var options = world.options
        options.excludes = [world.source + "/folder"]
        let error = #expect(throws: ExcludeError.self) {
            try BackupRun(world.open(), folder: world.source, options: options)
        }
        #expect(error?.description.hasSuffix("Write /folder") == true)
        options.excludes = ["/folder", "/home/else"]
        _ = try BackupRun(world.open(), folder: world.source, options: options)
    }
}
