import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Backup

/// Two folders with little in common, beside entries that nobody saves.
@Suite("Several folders in one snapshot")
struct SeveralFoldersTests {
    private let world: BackupWorld

    init() throws {
        world = try BackupWorld()
        try world.makeSmallZoo()
        try world.temporary.write("source/keep.tmp", "t")
        try world.temporary.write("other/deep/er/file", "f")
        try world.temporary.write("other/deep/er/left.tmp", "l")
        try world.temporary.write("other/deep/nobody", "n")
    }

    private var folders: [String] { [world.temporary["source"], world.temporary["other/deep/er"]] }
    /// Their paths below the root of the snapshot.
    private func below(_ folder: String) throws -> String {
        String(try #require(RootFolder.realPath(folder)).dropFirst())
    }

    private func backUp(_ folders: [String]? = nil, excluding patterns: [String] = []) async throws -> BackupReport {
        var options = world.options
        options.excludes = patterns
        return try await BackupRun(world.open(), folders: folders ?? self.folders, options: options).run()
    }

    private func paths(_ snapshot: Snapshot) async throws -> [String] {
        var paths: [String] = []
        let problems = try await world.open().list(snapshot) { path, _ in paths.append(path.display) }
        #expect(problems == [])
        return paths
    }

    @Test("the snapshot has them at their paths, and nothing beside them")
    func paths() async throws {
        let report = try await backUp(excluding: ["/left.tmp", "/folder/"])
        #expect(report.problems == [])
        let paths = try await paths(report.snapshot)
        let (first, second) = (try below(folders[0]), try below(folders[1]))
        #expect(paths.contains(first + "/text") && paths.contains(second + "/file"))
        #expect(paths.contains(first + "/keep.tmp"))
        // A pattern with a slash counts from each folder.
        #expect(!paths.contains(second + "/left.tmp") && !paths.contains(first + "/folder"))
        let isBeside = paths.filter { path in
            ![first, second].contains { path.hasPrefix($0) || $0.hasPrefix(path) }
        }
        #expect(isBeside == [])
        #expect(report.snapshot.folders.count == 2)
    }

    @Test("a restore gives them back below their paths, and a second run reads nothing again")
    func roundTrip() async throws {
        let first = try await backUp()
        let again = try await backUp()
        #expect(again.unchanged == first.snapshot.files && again.snapshot.files == first.snapshot.files)
        #expect(try await world.restore().problems == [])
        for folder in folders {
            let restored = TreePicture(world.target + "/" + (try below(folder)))
            #expect(restored.difference(from: TreePicture(folder)) == [])
        }
        var one = RestoreOptions()
        one.path = RelativePath(try below(folders[1]) + "/file")
        #expect(try await world.restore("one", one).restored == 1)
    }

    @Test("verify compares them with their places, and finds what is no more the same")
    func verify() async throws {
        let snapshot = try await backUp(excluding: ["/left.tmp"]).snapshot
        func differences() async throws -> [Difference] {
            var found: [Difference] = []
            var options = VerifyOptions()
            options.excludes = ["/left.tmp"]
            let run = try VerifyRun(world.open(), snapshot, against: "/", options: options)
            let report = try await run.run(found: { found.append($0) })
            #expect(report.damage == [] && report.unreadable == [])
            return found
        }
        #expect(try await differences() == [])
        // On the way, and so nobody's.
        try world.temporary.write("other/deep/more", "m")
        #expect(try await differences() == [])
        try world.temporary.write("other/deep/er/file", "g")
        try world.temporary.write("source/added", "a")
        let names = Set(
            try await differences().map { "\($0.path.display.split(separator: "/").last ?? "") \($0.aspect)" })
        #expect(names.isSuperset(of: ["file content", "added added"]))
    }

    @Test("the way to a folder need not be one that may be listed")
    func closedWay() async throws {
        try world.temporary.setMode("other", 0o711)
        let snapshot = try await backUp().snapshot
        #expect(snapshot.problems == 0)
        let report = try await VerifyRun(world.open(), snapshot, against: "/").run()
        #expect(report.differences == 0 && report.unreadable == [])
        try world.temporary.setMode("other", 0o755)
    }

    @Test("a folder within another one, and one that is named twice, are saved once")
    func within() async throws {
        let folder = world.temporary["other"]
        let report = try await backUp([folder + "/deep/er", folder, folder + "/."])
        #expect(report.snapshot.folders == [try #require(RootFolder.realPath(folder))])
        #expect(try await paths(report.snapshot).contains("deep/er/file"))
    }

    @Test("a difference of two snapshots is one of their folders")
    func difference() async throws {
        let first = try await backUp().snapshot
        try world.temporary.write("other/deep/beside", "b")
        try world.temporary.write("other/deep/er/new", "n")
        let second = try await backUp().snapshot
        var changes: [String] = []
        _ = try await world.open().compare(first, second) { changes.append("\($0)") }
        let place = try below(folders[1])
        #expect(changes == ["U  \(place)", "+  \(place)/new"])
    }

    @Test("an interrupted run goes on in the folder that it was in")
    func resume() async throws {
        struct Enough: Error {}
        var breaths = 0
        var checkpoint: BackupCheckpoint?
        await #expect(throws: Enough.self) {
            try await BackupRun(world.open(), folders: folders, options: world.options).run(
                breathe: {
                    breaths += 1
                    if breaths == 6 { throw Enough() }
                }, save: { checkpoint = $0 })
        }
        let run = try BackupRun(world.open(), folders: folders, options: world.options, resuming: checkpoint)
        let report = try await run.run()
        #expect(report.unchanged == checkpoint?.files && report.unchanged > 0)
        #expect(try await world.restore().problems == [])
        for folder in folders {
            let restored = TreePicture(world.target + "/" + (try below(folder)))
            #expect(restored.difference(from: TreePicture(folder)) == [])
        }
    }

    @Test("the command takes them, and finds their snapshots by each")
    func command() throws {
        let environment = ["QOS_BACKUP_PASSWORD": String(decoding: BackupWorld.passphrase, as: UTF8.self)]
        func run(_ arguments: String...) throws -> CommandRun {
            let all = [arguments[0], "-r", world.repositoryPath] + arguments.dropFirst()
            return try CommandRun("qos-backup", all, environment: environment, in: world.temporary)
        }
        #expect(try run("backup", folders[0], folders[1]).status == 0)
        #expect(try run("backup", folders[0]).status == 0)
        let one = try #require(RootFolder.realPath(folders[1]))
        let listed = try run("snapshots", "--folder", one).output
        #expect(listed.split(separator: "\n").count == 1 && listed.contains(one))
        let file = try run("dump", "latest", one + "/file", "--folder", one)
        #expect(file.status == 0 && file.output == "f", "\(file)")
        #expect(try run("restore", "latest", world.target).errors.contains("Name one"))
        #expect(try run("verify", "latest", "/", "--folder", one).status == 0)
    }

    @Test("folders whose names are different ways to write the same letters are two")
    func composed() throws {
        let folders = ["\u{E9}", "e\u{301}"].map { world.temporary["source/\($0)"] }
        for folder in folders {
            guard unsafe mkdir(folder, 0o700) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
        #expect(try SourceTree.paths(folders).count == 2)
        #expect(!RootFolder.contains(folders[0], folders[1] + "/x"))
        #expect(RootFolder.contains(folders[0], folders[0] + "/x"))
    }

    @Test("names of one file that were saved with different contents come back as two files")
    func changedBetween() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/a/one", "old!")
        try world.temporary.makeFolder("source/b")
        let (one, two) = (world.temporary["source/a/one"], world.temporary["source/b/two"])
        guard unsafe Glibc.link(one, two) == 0 else { throw CocoaError(.fileWriteUnknown) }
        var calls = 0
        let folders = ["source/a", "source/b"].map { world.temporary[$0] }
        let report = try await BackupRun(world.open(), folders: folders, options: world.options).run(breathe: {
            calls += 1
            // The first folder is saved by now.
            guard calls == 2 else { return }
            let file = unsafe open(two, O_WRONLY)
            defer { close(file) }
            _ = unsafe pwrite(file, "new!", 4, 0)
        })
        #expect(report.problems == [] && calls == 2)
        let restored = try await world.restore()
        #expect(restored.problems == [] && restored.incomplete > 0)
        #expect(try world.temporary.read("target" + one) == "old!")
        #expect(try world.temporary.read("target" + two) == "new!")
    }
}
