import Foundation
import Glibc
import SafeFiles
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync

/// Extended attributes and access lists of what a run writes. A file system without them has nothing to compare.
@Suite("Attributes in sync")
struct AttributeTests {
    /// An access list: the owner rwx, user 12345 rwx, the group r-x, mask rwx, others nothing.
    private static let list: [UInt8] =
        [2, 0, 0, 0]
        + [(1, 7, UInt32.max), (2, 7, 12345), (4, 5, .max), (16, 7, .max), (32, 0, .max)].flatMap {
            (tag: UInt8, rights: UInt8, id: UInt32) -> [UInt8] in
            [tag, 0, rights, 0] + (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
        }

    private func set(_ path: String, _ name: String, _ value: [UInt8]) -> Bool {
        let file = unsafe open(path, O_RDONLY)
        defer { close(file) }
        return ExtendedAttributes.set(Array(name.utf8), to: value, of: file)
    }

    private func remove(_ path: String, _ name: String) -> Bool {
        let file = unsafe open(path, O_RDONLY)
        defer { close(file) }
        return ExtendedAttributes.change(file, setting: [:], removing: [Array(name.utf8)]).isEmpty
    }

    private func get(_ path: String, _ name: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY)
        defer { close(file) }
        return ExtendedAttributes.value(of: Array(name.utf8), of: file)
    }

    @Test("go with new files and folders, and with new contents; those of a target's folder do not stay")
    func copies() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/small", "s")
        try world.temporary.write("a/large", bytes: SeededGenerator.noise(600_000, seed: 1))
        try world.temporary.write("a/d/inner", "i")
        guard set(world.a + "/small", "user.note", [1, 0, 255]) else { return }
        #expect(set(world.a + "/large", "user.note", [2]))
        let hasLists =
            set(world.a + "/small", "system.posix_acl_access", Self.list)
            && set(world.a + "/d", "system.posix_acl_default", Self.list)
            && set(world.b, "system.posix_acl_default", Self.list)
        let report = try await world.sync()
        #expect(report.isInStep && report.incomplete == nil, "\(report)")
        #expect(get(world.b + "/small", "user.note") == [1, 0, 255] && get(world.b + "/large", "user.note") == [2])
        if hasLists {
            for (name, attribute) in [
                ("small", "system.posix_acl_access"), ("d", "system.posix_acl_default"),
                ("d", "system.posix_acl_access"),
                ("d/inner", "system.posix_acl_access"), ("large", "system.posix_acl_access"),
            ] {
                #expect(
                    get(world.b + "/" + name, attribute) == get(world.a + "/" + name, attribute), "\(name) \(attribute)"
                )
            }
        }
        #expect(world.difference() == [])
        // A new content brings them, too, in both directions.
        try world.temporary.write("b/small", "changed there")
        #expect(set(world.b + "/small", "user.note", [3]) && set(world.b + "/small", "user.more", [4]))
        #expect(try await world.sync().copied == 1)
        #expect(get(world.a + "/small", "user.note") == [3] && get(world.a + "/small", "user.more") == [4])
        #expect(world.difference() == [])
    }

    /// Runs a body with a sync of each kind: of two folders of this machine, and with an agent.
    private func each(
        _ body: (SyncWorld, (_ change: (inout SyncOptions) -> Void) async throws -> SyncReport) async throws -> Void
    ) async throws {
        let local = try SyncWorld()
        try await body(local) { try await local.sync($0) }
        let distant = try SyncWorld()
        let agent = try await RunningServer.agent(distant.b)
        try await body(distant) { try await distant.sync(with: agent, $0) }
    }

    private func inode(_ path: String) throws -> UInt64 {
        try #require(EntryStatus(Array(path.utf8), in: AT_FDCWD)).stamp.inode
    }

    @Test("a change of attributes alone goes over without a copy, from either side, and a removal, too")
    func alone() async throws {
        try await each { world, sync in
            try world.temporary.write("a/f", "content")
            try world.temporary.write("a/d/inner", "i")
            guard set(world.a + "/f", "user.kept", [7]) else { return }
            _ = try await sync { _ in }
            #expect(get(world.b + "/f", "user.kept") == [7])
            let inodes = try ["f", "d/inner"].map { try inode(world.b + "/" + $0) }
            // On A, of a file and a folder; a list of B; a mode.
            #expect(set(world.a + "/f", "user.new", [1]) && set(world.a + "/d", "user.new", [2]))
            _ = set(world.b + "/f", "system.posix_acl_access", Self.list)
            try world.temporary.setMode("b/d/inner", 0o640)
            var report = try await sync { _ in }
            #expect(report.copied == 0 && report.described > 0 && report.isInStep && report.notes == nil, "\(report)")
            #expect(get(world.b + "/f", "user.new") == [1] && get(world.b + "/d", "user.new") == [2])
            #expect(get(world.a + "/f", "system.posix_acl_access") == get(world.b + "/f", "system.posix_acl_access"))
            #expect(world.difference() == [])
            report = try await sync { _ in }
            #expect(report.copied == 0 && report.described == 0 && report.isInStep, "\(report)")
            // Other values on both sides, a removal on B, and one that both have changed: A's stays.
            #expect(set(world.a + "/f", "user.of A", [3]) && set(world.b + "/f", "user.of B", [4]))
            #expect(set(world.a + "/f", "user.new", [5]) && set(world.b + "/f", "user.new", [6]))
            #expect(remove(world.b + "/f", "user.kept"))
            report = try await sync { _ in }
            #expect(report.copied == 0 && report.conflicts == [] && report.isInStep, "\(report)")
            #expect(get(world.a + "/f", "user.kept") == nil && get(world.b + "/f", "user.kept") == nil)
            #expect(get(world.a + "/f", "user.of B") == [4] && get(world.b + "/f", "user.of A") == [3])
            #expect(get(world.b + "/f", "user.new") == [5])
            #expect(world.difference() == [])
            #expect(try ["f", "d/inner"].map { try inode(world.b + "/" + $0) } == inodes)
        }
    }

    @Test("an attribute of one side and a content of the other one are both kept, without a conflict")
    func besideContent() async throws {
        try await each { world, sync in
            try world.temporary.write("a/f", "content")
            guard set(world.a + "/f", "user.kept", [7]) else { return }
            _ = try await sync { _ in }
            #expect(set(world.b + "/f", "user.of B", [1]))
            let file = try #require(FileHandle(forWritingAtPath: world.a + "/f"))
            try file.write(contentsOf: Data("changed".utf8))
            try file.close()
            let report = try await sync { _ in }
            #expect(report.copied == 1 && report.conflicts == [] && report.isInStep, "\(report)")
            #expect(try world.temporary.read("b/f") == "changed")
            for side in [world.a, world.b] {
                #expect(get(side + "/f", "user.of B") == [1] && get(side + "/f", "user.kept") == [7])
            }
            #expect(world.difference() == [])
        }
    }

    @Test("holes go to an agent and come from it, also in the middle and at the end of a changed file")
    func holes() async throws {
        let world = try SyncWorld()
        let agent = try await RunningServer.agent(world.b)
        for side in ["a", "b"] {
            try world.temporary.makeSparse(side + "/" + side, "head", size: 32 << 20)
            let file = try #require(FileHandle(forWritingAtPath: world.temporary[side + "/" + side]))
            try file.seek(toOffset: 16 << 20)
            try file.write(contentsOf: Data(SeededGenerator.noise(200_000, seed: 3)))
            try file.close()
        }
        var report = try await world.sync(with: agent)
        #expect(report.isInStep && report.copied == 2, "\(report)")
        #expect(world.difference() == [])
        // A change, for which chunks of the old version are named.
        for side in ["a", "b"] {
            let file = try #require(FileHandle(forWritingAtPath: world.temporary[side + "/" + side]))
            try file.seek(toOffset: (16 << 20) + 1000)
            try file.write(contentsOf: Data("changed".utf8))
            try file.close()
        }
        report = try await world.sync(with: agent)
        #expect(report.isInStep && report.copied == 2 && report.reusedBytes > 100_000, "\(report)")
        #expect(world.difference() == [])
    }

    @Test("holes of a large file of which only parts are written stay")
    func holesInParts() async throws {
        let world = try SyncWorld()
        try world.temporary.makeSparse("a/f", "head", size: 32 << 20)
        try await world.sync { $0.largeFile = 1 << 20 }
        let file = try #require(FileHandle(forWritingAtPath: world.a + "/f"))
        try file.seek(toOffset: 16 << 20)
        try file.write(contentsOf: Data(SeededGenerator.noise(200_000, seed: 3)))
        try file.close()
        let report = try await world.sync { $0.largeFile = 1 << 20 }
        #expect(report.copied == 1 && report.isInStep, "\(report)")
        #expect(world.difference() == [])
    }
}
