import Glibc
import QoSFileTestSupport
import Testing

@testable import QoSFiles

@Suite("Walking through directories", .timeLimit(.minutes(5)))
struct FolderWalkTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("qos-walk") }

    private func walk(_ path: String) async throws -> [FolderWalk.Entry] {
        var entries: [FolderWalk.Entry] = []
        for try await entry in FolderWalk(path, throttle: IOThrottle()) { entries.append(entry) }
        return entries
    }

    @Test("S4 every entry comes once, a directory before its entries, and links are not followed")
    func all() async throws {
        for name in ["b/2", "b/1", "a", "c/d/e/f", ".hidden"] { try folder.write(name, "x") }
        unsafe symlink("..", folder["b/up"])
        unsafe mkfifo(folder["fifo"], 0o600)
        unsafe mkdir(folder["empty"], 0o700)
        let entries = try await walk(folder.path + "//")
        #expect(
            entries.map { String($0.path.dropFirst(folder.path.count + 1)) } == [
                ".hidden", "a", "b", "b/1", "b/2", "b/up", "c", "c/d", "c/d/e", "c/d/e/f", "empty", "fifo",
            ])
        #expect(entries.first { $0.path.hasSuffix("/up") }?.kind == .symbolicLink)
        #expect(entries.first { $0.path.hasSuffix("/fifo") }?.kind == .fifo)
        #expect(entries.allSatisfy { $0.error == nil })
    }

    @Test("S4 a missing top, and one that is a file, are errors")
    func badTop() async throws {
        try folder.write("file")
        for path in [folder["none"], folder["file"]] {
            let error = await #expect(throws: FileError.self) { try await walk(path) }
            #expect(error?.code == .notFound)
        }
        for path in ["", "\(folder.path)\0/more"] {
            let error = await #expect(throws: FileError.self) { try await walk(path) }
            #expect(error?.code == .invalidArgument, "a NUL byte would end the path")
        }
    }

    @Test("S4 an entry whose name is not UTF-8 has an error, and is not left out")
    func badName() async throws {
        try folder.write("a/1")
        try folder.write("d")
        let path = (Array(folder["c"].utf8) + [0xe9, 0]).map { CChar(truncatingIfNeeded: $0) }
        try #require(unsafe mkdir(path, 0o700) == 0)
        defer { unsafe rmdir(path) }
        let entries = try await walk(folder.path)
        #expect(entries.map(\.path) == [folder["a"], folder["a/1"], folder["c\u{fffd}"], folder["d"]])
        #expect(entries.map(\.kind) == [.directory, .regular, .directory, .regular])
        #expect(entries.map { $0.error?.number } == [nil, nil, EILSEQ, nil])
        #expect(entries[2].error?.description.contains("the name is not UTF-8") == true)
    }

    @Test("S4 a directory that is removed meanwhile is left out")
    func vanishes() async throws {
        try folder.write("a/1")
        try folder.write("b/1")
        var paths: [String] = []
        for try await entry in FolderWalk(folder.path, throttle: IOThrottle()) {
            if paths.isEmpty {
                unsafe unlink(folder["b/1"])
                unsafe rmdir(folder["b"])
            }
            paths.append(entry.path)
        }
        #expect(paths == [folder["a"], folder["a/1"]])
    }

    @Test(
        "S4 a directory that may not be read has an error, and the walk goes on",
        .enabled(if: geteuid() != 0, "root reads everything"))
    func forbidden() async throws {
        try folder.write("a/1")
        try folder.write("b")
        unsafe chmod(folder["a"], 0)
        defer { unsafe chmod(folder["a"], 0o700) }
        let entries = try await walk(folder.path)
        #expect(entries.map(\.path) == [folder["a"], folder["b"]])
        #expect(entries[0].error?.code == .permissionDenied && entries[1].error == nil)
    }

    @Test("S4 a cancelled walk ends")
    func cancelled() async throws {
        try folder.write("a/1")
        let path = folder.path
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            for try await _ in FolderWalk(path, throttle: IOThrottle()) {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
