import Glibc
import SafeFiles
import SampleTestSupport
import Testing

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
}
