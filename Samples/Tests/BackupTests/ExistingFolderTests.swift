import CFileSystem
import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Backup

@Suite("Restores into folders that are there")
struct ExistingFolderTests {
    private func status(_ path: String) throws -> EntryStatus {
        try #require(EntryStatus(Array(path.utf8), in: AT_FDCWD))
    }

    private func link(_ world: BackupWorld, _ old: String, _ new: String) throws {
        guard unsafe Glibc.link(world.temporary[old], world.temporary[new]) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    @Test("a folder that is there keeps mode, owner and time; one that the restore makes gets those of the snapshot")
    func existingFolder() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/album/one.jpg", "1")
        try world.temporary.write("source/album/new/two.jpg", "2")
        for (name, mode) in [("source", UInt32(0o700)), ("source/album", 0o700), ("source/album/new", 0o750)] {
            try world.temporary.setMode(name, mode)
            try world.temporary.setTime(name, 1_000_000_000, 0)
        }
        try await world.backUp()
        try world.temporary.makeFolder("target/album")
        try world.temporary.setMode("target", 0o1777)
        try world.temporary.setMode("target/album", 0o775)
        var options = RestoreOptions()
        options.path = "album"
        #expect(try await world.restore("target", options).problems == [])
        #expect(try status(world.target).mode == 0o1777)
        #expect(try status(world.target + "/album").mode == 0o775)
        #expect(try status(world.target + "/album").stamp.modified != 1_000_000_000_000_000_000)
        let made = try status(world.target + "/album/new")
        #expect(made.mode == 0o750 && made.stamp.modified == 1_000_000_000_000_000_000)
        #expect(try world.temporary.files().filter { $0.contains(".qos-restore") } == [])
    }

    @Test("a path that is not in the snapshot makes nothing")
    func unknownPath() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/album/one.jpg", "1")
        try await world.backUp()
        var options = RestoreOptions()
        for path in ["album/on.jpg", "album/one.jpg/x"] {
            options.path = RelativePath(path)
            await #expect(throws: BackupError.unknownPath(path)) { try await world.restore("target", options) }
            #expect(!world.temporary.exists("target"))
        }
    }

    @Test("a folder that an interrupted restore made gets its metadata from the next one")
    func interrupted() async throws {
        struct Stop: Error {}
        let world = try BackupWorld()
        for number in 0..<5 { try world.temporary.write("source/d/\(number)/f", "f") }
        try world.temporary.setMode("source/d", 0o751)
        try world.temporary.setTime("source/d", 1_000_000_000, 0)
        try world.temporary.setTime("source", 1_000_000_000, 0)
        try await world.backUp()
        let repository = try world.open()
        let run = try RestoreRun(repository, repository.snapshot(named: "latest"), to: world.target)
        var count = 0
        await #expect(throws: Stop.self) {
            try await run.run {
                count += 1
                if count == 6 { throw Stop() }
            }
        }
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }

    @Test("names of one file are names of one file again after --replace, also if one of them was another file")
    func replacedLink() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/a", "one file")
        for name in ["b", "c"] { try link(world, "source/a", "source/\(name)") }
        try await world.backUp()
        try await world.restore()
        for name in ["a", "b", "c"] {
            try world.temporary.remove("target/\(name)")
            try world.temporary.write("target/\(name)", "another")
            var options = RestoreOptions()
            options.replaces = true
            let report = try await world.restore("target", options)
            #expect(report.problems == [] && report.incomplete == 0)
            #expect(TreePicture(world.target, times: false) == TreePicture(world.source, times: false), "\(name)")
        }
    }

    @Test("names of one file are names of one file below a path of more than 4,096 bytes")
    func deepLink() async throws {
        let world = try BackupWorld()
        let name = String(repeating: "n", count: 200)
        // No single call takes such a path: a shell goes down step by step.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            "cd \"$0\"; i=0; while [ $i -lt 25 ]; do mkdir \"$1\"; cd -P \"$1\" || exit 1; i=$((i+1)); done; "
                + "echo x > a; ln a b", world.source, name,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        defer { for path in [world.source, world.target] { try? HostileTree.remove(path) } }
        try await world.backUp()
        let report = try await world.restore()
        #expect(report.problems == [] && report.incomplete == 0 && report.restored == 2)
        #expect(try await world.verify("target") == [])
    }

    @Test("an access list that a file gets from its folder does not open it to others")
    func inheritedList() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/d/secret", "s")
        try world.temporary.setMode("source/d/secret", 0o640)
        try await world.backUp()
        try world.temporary.makeFolder("target/d")
        // acl(5): the owner and user 12345 may all, the group may read, others nothing.
        var list: [UInt8] = [2, 0, 0, 0]
        for (tag, rights, number) in [
            (1, 7, UInt32.max), (2, 7, 12345), (4, 4, UInt32.max), (16, 7, UInt32.max), (32, 0, UInt32.max),
        ] as [(UInt8, UInt8, UInt32)] {
            list += [tag, 0, rights, 0] + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        }
        let result = unsafe setxattr(world.temporary["target/d"], "system.posix_acl_default", list, list.count, 0)
        guard result == 0 else { return }
        #expect(try await world.restore().problems == [])
        let line = TreePicture(world.target).lines.first { $0.contains("size 1") }
        #expect(line?.hasSuffix(" ") == true && line?.contains("mode 100640") == true, "\(line ?? "")")
        let folder = TreePicture(world.target).lines.first { $0.contains("mode 40") && $0.hasPrefix("/") }
        #expect(folder?.contains("=") == true, "the folder's own list stays")
    }

    @Test("a foreign attribute goes with the restore of its file")
    func foreignAttribute() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/f", "f")
        try await world.backUp()
        try await world.restore()
        guard unsafe setxattr(world.temporary["target/f"], "user.foreign", "x", 1, 0) == 0 else { return }
        #expect(try await world.restore().incomplete == 0)
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }

    @Test("a dry run tells what it would restore, and makes nothing")
    func dryRun() async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        var options = RestoreOptions()
        options.isDryRun = true
        let all = try await world.restore("target", options)
        #expect(all.restored == 7 && all.problems == [] && !world.temporary.exists("target"))
        try await world.restore()
        try world.temporary.write("target/text", "mine")
        let picture = TreePicture(world.target)
        let second = try await world.restore("target", options)
        #expect(second.restored == 0 && second.present == 6 && second.problems.count == 1, "\(second)")
        options.replaces = true
        options.path = "text"
        #expect(try await world.restore("target", options).restored == 1)
        #expect(TreePicture(world.target) == picture)
    }

    @Test("a restore writes in a folder of the user that cannot be written, and gives its rights back")
    func readOnlyFolder() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/d/f", "f")
        try world.temporary.write("source/d/e/g", "g")
        try world.temporary.setMode("source/d/e", 0o555)
        try world.temporary.setMode("source/d", 0o555)
        try await world.backUp()
        try world.temporary.makeFolder("target/d")
        try world.temporary.setMode("target/d", 0o555)
        #expect(try await world.restore().problems == [])
        #expect(try world.temporary.read("target/d/e/g") == "g")
        #expect(try status(world.target + "/d").mode == 0o555 && status(world.target + "/d/e").mode == 0o555)
    }
}
