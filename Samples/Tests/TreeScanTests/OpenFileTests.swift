import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import TreeScan

@Suite("Open files")
struct OpenFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("reading stops at the limit", arguments: [1, 4096, 65_536, 100_000, 200_000])
    func readsUpToTheLimit(limit: Int) throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try folder.write("a", bytes: bytes)
        let read = try RootFolder(folder.path).open("a").read(limit: limit)
        #expect(read == Array(bytes.prefix(limit)))
    }

    @Test("a file whose size is unknown is read to its end")
    func readsFilesWithoutSize() throws {
        let text = try RootFolder("/proc/self").open("status").read(limit: 1 << 20)
        #expect(String(decoding: text, as: UTF8.self).contains("Threads:"))
    }

    @Test("a device, a pipe and a folder are refused without waiting")
    func refusesSpecials() throws {
        try folder.makePipe("pipe")
        try folder.makeFolder("folder")
        let root = try RootFolder(folder.path)
        #expect(throws: FileSystemFailure(path: "pipe", operation: "read", code: ENODEV)) {
            try root.open("pipe").read(limit: 1)
        }
        #expect(throws: FileSystemFailure(path: "folder", operation: "read", code: ENODEV)) {
            try root.open("folder").read(limit: 1)
        }
        #expect(throws: FileSystemFailure(path: "null", operation: "read", code: ENODEV)) {
            try RootFolder("/dev").open("null").read(limit: 1)
        }
    }

    @Test("a link in any component counts as vanished")
    func refusesLinks() throws {
        try folder.write("d/a.txt", "x")
        try folder.makeLink("l", to: "d")
        try folder.makeLink("d/l.txt", to: "a.txt")
        let root = try RootFolder(folder.path)
        for path: RelativePath in ["l/a.txt", "d/l.txt", "d/a.txt/b"] {
            do throws(FileSystemFailure) {
                _ = try root.open(path).read(limit: 1)
                Issue.record("\(path) was opened")
            } catch {
                #expect(error.isVanished)
            }
        }
    }

    @Test("a file changed within the window is racy, by either time; one that claims the far future is not")
    func judgesRaciness() {
        let second: Int64 = 1_000_000_000
        func stamp(modified: Int64, changed: Int64) -> FileStamp {
            FileStamp(size: 1, modified: modified * second, changed: changed * second, inode: 1, device: 1)
        }
        let now = 1000 * second
        #expect(!stamp(modified: 900, changed: 900).isRacy(at: now))
        #expect(stamp(modified: 900, changed: 999).isRacy(at: now))
        #expect(stamp(modified: 999, changed: 900).isRacy(at: now))
        #expect(stamp(modified: 900, changed: 2000).isRacy(at: now))
        #expect(!stamp(modified: 2000, changed: 900).isRacy(at: now))
    }

    @Test(
        "a path knows its parts",
        arguments: [
            ("a/b.TXT", "b.TXT", "txt"), ("c", "c", nil), (".profile", ".profile", nil), ("x.tar.gz", "x.tar.gz", "gz"),
            ("d.x/e.", "e.", nil),
        ] as [(String, String, String?)]
    )
    func splitsPaths(path: String, name: String, suffix: String?) {
        #expect(String(decoding: RelativePath(path).name, as: UTF8.self) == name)
        #expect(RelativePath(path).fileExtension == suffix)
    }

    @Test("the subtree of a folder holds what is below it and no neighbour")
    func boundsSubtrees() throws {
        let (lower, upper) = try #require(RelativePath("a/b").subtree)
        func isInside(_ path: String) -> Bool {
            let bytes = Array(path.utf8)
            return !bytes.lexicographicallyPrecedes(lower) && bytes.lexicographicallyPrecedes(upper)
        }
        #expect(isInside("a/b/c"))
        #expect(!isInside("a/b"))
        #expect(!isInside("a/b.c"))
        #expect(!isInside("a/bc"))
        #expect(!isInside("a/b0"))
    }
}
