import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@Suite("Tree scan")
struct TreeScannerTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func scan(_ options: ScanOptions = ScanOptions()) throws -> [ScanEvent] {
        let scanner = try TreeScanner(root: RootFolder(folder.path), options: options)
        var events: [ScanEvent] = []
        while let event = scanner.next() { events.append(event) }
        return events
    }

    private func files(_ events: [ScanEvent]) -> [String] {
        events.compactMap { if case .file(let path, _) = $0 { path.description } else { nil } }.sorted()
    }

    private func failures(_ events: [ScanEvent]) -> [FileSystemFailure] {
        events.compactMap { if case .failure(let failure) = $0 { failure } else { nil } }
    }

    @Test("every regular file below the root is found once, with its size and times")
    func findsFiles() throws {
        try folder.write("a.txt", "12345")
        try folder.write("d/e/b.txt", "")
        let events = try scan()
        #expect(files(events) == ["a.txt", "d/e/b.txt"])
        guard
            case .file(_, let stamp)? = events.first(where: { if case .file("a.txt", _) = $0 { true } else { false } })
        else {
            Issue.record("no stamp")
            return
        }
        var status = stat()
        #expect(unsafe stat(folder["a.txt"], &status) == 0)
        #expect(stamp.size == 5)
        #expect(stamp.inode == UInt64(status.st_ino))
        #expect(stamp.modified == Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
    }

    @Test("links, pipes and sockets are left out and links are not followed")
    func leavesOutSpecials() throws {
        try folder.write("d/a.txt", "x")
        try folder.makeLink("loop", to: ".")
        try folder.makeLink("file-link", to: "d/a.txt")
        try folder.makePipe("pipe")
        let events = try scan()
        #expect(files(events) == ["d/a.txt"])
        #expect(events.contains(.leftOut("loop", .symbolicLink)))
        #expect(events.contains(.leftOut("file-link", .symbolicLink)))
        #expect(events.contains(.leftOut("pipe", .fifo)))
    }

    @Test("excluded names and excluded folders are not entered")
    func excludes() throws {
        try folder.write(".git/config", "x")
        try folder.write("d/.git/config", "x")
        try folder.write("index/index.sqlite", "x")
        try folder.write("kept.txt", "x")
        let own = try #require(FolderIdentity(path: folder["index"]))
        #expect(files(try scan(ScanOptions(excludedFolders: [own]))) == ["kept.txt"])
    }

    @Test("a name that is not UTF-8 keeps its bytes")
    func keepsRawNames() throws {
        let name: [UInt8] = [0x66, 0xFF, 0xFE, 0x2E, 0x74]
        try folder.write("d/plain", "x")
        let path = RelativePath(bytes: Array("d/".utf8) + name)
        let raw = (Array(folder.path.utf8) + [0x2F] + path.bytes + [0]).map { CChar(bitPattern: $0) }
        let descriptor = unsafe open(raw, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
        let found = try scan().contains { if case .file(path, _) = $0 { true } else { false } }
        #expect(found)
        #expect(throws: Never.self) { try RootFolder(folder.path).open(path).read(limit: 10) }
    }

    @Test("a folder deeper than the limit is a failure, and the rest is scanned")
    func limitsDepth() throws {
        try folder.write("a/b/c/deep.txt", "x")
        try folder.write("a/shallow.txt", "x")
        let events = try scan(ScanOptions(maximumDepth: 3))
        #expect(files(events) == ["a/shallow.txt"])
        #expect(failures(events).map(\.path) == ["a/b/c"])
    }

    @Test("an unreadable folder is a failure of that folder alone", .enabled(if: geteuid() != 0))
    func reportsUnreadableFolder() throws {
        try folder.write("closed/a.txt", "x")
        try folder.write("open/a.txt", "x")
        try folder.setMode("closed", 0)
        let events = try scan()
        #expect(files(events) == ["open/a.txt"])
        #expect(failures(events).map(\.path) == ["closed"])
        #expect(failures(events).allSatisfy { $0.isDenied && !$0.isVanished })
    }

    @Test("a folder that vanishes between listing and opening is a vanished entry")
    func reportsVanishedFolder() throws {
        try folder.write("a/x.txt", "x")
        let root = try RootFolder(folder.path)
        let scanner = try TreeScanner(root: root)
        guard case .folder("a")? = scanner.next() else {
            Issue.record("the folder was not entered")
            return
        }
        try folder.remove("a")
        while let event = scanner.next() {
            guard case .failure(let failure) = event else { continue }
            #expect(failure.isVanished)
        }
        #expect(throws: FileSystemFailure(path: "a/x.txt", operation: "open", code: ENOENT)) {
            try root.open("a/x.txt").read(limit: 1)
        }
    }

    @Test("a missing root, a file as root and a closed one say so")
    func refusesBadRoots() throws {
        try folder.write("file", "x")
        #expect(throws: TreeScanError.missing(path: folder["none"])) { try RootFolder(folder["none"]) }
        #expect(throws: TreeScanError.notAFolder(path: folder["file"])) { try RootFolder(folder["file"]) }
        #expect(TreeScanError.missing(path: "/x").description.contains("does not exist"))
    }

    @Test("a root without rights is denied", .enabled(if: geteuid() != 0))
    func refusesDeniedRoot() throws {
        try folder.makeFolder("closed")
        try folder.setMode("closed", 0)
        #expect(throws: TreeScanError.denied(path: folder["closed"])) { try RootFolder(folder["closed"]) }
    }

    @Test("a root that was exchanged is no longer current")
    func noticesExchangedRoot() throws {
        try folder.makeFolder("root")
        let root = try RootFolder(folder["root"])
        #expect(root.isCurrent)
        try folder.rename("root", "old")
        try folder.makeFolder("root")
        #expect(!root.isCurrent)
    }

    @Test("a scan leaves no descriptor open")
    func closesDescriptors() throws {
        for index in 0..<20 { try folder.write("d\(index)/e/f.txt", "x") }
        try folder.makePipe("pipe")
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        for _ in 0..<300 {
            _ = try scan()
            let root = try RootFolder(folder.path)
            _ = try? root.open("pipe").read(limit: 1)
            _ = try? root.open("d1/e/none").read(limit: 1)
            _ = try root.open("d1/e/f.txt").read(limit: 1)
        }
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        // Other tests of this process open descriptors meanwhile; a leak would leave hundreds.
        #expect(after - before < 200)
    }
}
