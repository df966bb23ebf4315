import Foundation
import Glibc
import Indexing
import SampleTestSupport
import Testing

@Suite("Bad files")
struct BadFileTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    /// Steps until the scan is over and the files wait to be read.
    private func scanned(_ index: SearchIndex) throws -> IndexPass {
        let pass = try index.makePass()
        while index.status.activity != .indexing { _ = try pass.step() }
        return pass
    }

    @Test("a file that vanishes before its turn is recorded, and gone after the next pass")
    func vanishes() throws {
        try world.folder.write("a.txt", "alpha")
        try world.folder.write("b.txt", "alpha")
        let index = try world.open()
        let pass = try scanned(index)
        try world.folder.remove("a.txt")
        while try pass.step() != .finished {}
        #expect(index.status.counts.reasons == ["vanished": 1])
        #expect(try index.hits("alpha") == ["b.txt"])
        #expect(try index.runPass().removed == 1)
        #expect(index.status.counts.files == 1)
    }

    @Test("a file that became a pipe is recorded without waiting for a writer, and its old text is gone")
    func becomesPipe() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try world.indexed()
        try world.folder.write("a.txt", "omega")
        let pass = try scanned(index)
        try world.folder.remove("a.txt")
        try world.folder.makePipe("a.txt")
        while try pass.step() != .finished {}
        #expect(index.status.counts.reasons == ["not-a-file": 1])
        #expect(try index.hits("alpha").isEmpty)
    }

    @Test("a file that grows between scan and reading is read as it is then, and again when it changes further")
    func grows() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try world.open()
        let pass = try scanned(index)
        try world.folder.write("a.txt", "alpha omega")
        while try pass.step() != .finished {}
        #expect(try index.hits("omega") == ["a.txt"])
        #expect(try index.runPass().changed == 0)
        try world.folder.write("a.txt", "alpha omega psi")
        #expect(try index.runPass().changed == 1)
    }

    @Test("a 2 GB log is indexed up to the limit and marked, in bounded memory")
    func limitsHugeFiles() throws {
        let filler = String(repeating: "filler\n", count: 1000)
        try world.folder.makeSparse("huge.log", filler, size: 2 << 30)
        try world.folder.makeSparse("zeros.log", "alpha at the start\n", size: 2 << 30)
        try world.folder.write("long.txt", filler + "beyond")
        let index = try world.indexed { $0.textLimit = 4096 }
        #expect(index.status.counts.truncated == 2)
        #expect(try index.hits("filler") == ["huge.log", "long.txt"])
        #expect(try index.hits("beyond").isEmpty)
        // Zeros in the first part: binary, whatever the name says.
        #expect(index.status.counts.reasons == ["binary": 1])
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #expect(usage.ru_maxrss < 1 << 20, "a gigabyte would mean that the file was read as a whole")
    }

    @Test(
        "a file that may not be read is recorded and listed, and indexed once it may be read, although it did not change"
    )
    func denied() throws {
        try world.folder.write("a.txt", "alpha")
        try world.folder.write("b.txt", "alpha")
        try world.folder.setMode("a.txt", 0)
        let index = try world.open()
        try world.asStranger { _ = try index.runPass() }
        #expect(index.status.counts.reasons == ["permission-denied": 1])
        #expect(index.status.problems.map(\.path) == ["a.txt"])
        #expect(index.status.problems.first?.detail.contains("Permission denied") == true)
        #expect(!index.status.isComplete)
        #expect(try !index.search(SearchQuery("alpha")).isComplete)
        // For root the right is back at once, and no time of the file has changed; any other user grants it.
        if geteuid() != 0 { try world.folder.setMode("a.txt", 0o600) }
        #expect(try index.runPass().settled == 1)
        #expect(try index.hits("alpha") == ["a.txt", "b.txt"])
        #expect(index.status.problems.isEmpty && index.status.isComplete)
    }

    @Test("a file that is indexed in part is listed, and answers are not called complete")
    func listsTruncated() throws {
        try world.folder.write("long.txt", String(repeating: "filler ", count: 1000))
        let index = try world.indexed { $0.textLimit = 1000 }
        #expect(index.status.problems.map(\.path) == ["long.txt"])
        #expect(index.status.problems.map(\.reason) == ["truncated"])
        #expect(try !index.search(SearchQuery("filler")).isComplete)
        try index.close()
        let again = try world.open { $0.textLimit = 1000 }
        #expect(again.status.problems.map(\.path) == ["long.txt"], "also when the index is opened again")
    }

    @Test("a folder that may not be listed is no part of a complete answer")
    func deniedFolder() throws {
        try world.folder.write("d/a.txt", "alpha")
        try world.folder.setMode("d", 0)
        let index = try world.open()
        try world.asStranger { _ = try index.runPass() }
        #expect((index.status.unreadable, index.status.isComplete) == (1, false))
        try world.folder.setMode("d", 0o700)
        try index.runPass()
        #expect((index.status.unreadable, index.status.isComplete) == (0, true))
    }

    @Test("a file that gives no byte now is listed as not read, and the files behind it are read")
    func passesBusyFiles() throws {
        let world = try IndexWorld()
        for name in ["a.txt", "busy.txt", "z.txt"] { try world.folder.write(name, "alpha") }
        // An open that would have to break a lease says EAGAIN, as many files of /proc do when they are read.
        signal(SIGIO, SIG_IGN)
        let busy = unsafe open(world.folder["busy.txt"], O_RDWR)
        defer { close(busy) }
        let setLease: Int32 = 1024
        try #require(fcntl(busy, setLease, Int32(F_WRLCK)) == 0)
        let index = try world.indexed()
        #expect(try index.hits("alpha") == ["a.txt", "z.txt"])
        #expect(index.status.counts.reasons == ["read-error": 1])
        #expect(try index.hits("busy") == ["busy.txt"], "its name is found")
        #expect(try !index.search(SearchQuery("alpha")).isComplete)
        _ = fcntl(busy, setLease, Int32(F_UNLCK))
        try index.runPass()
        #expect(try index.hits("alpha").count == 3)
    }

    @Test("binary files are skipped with the reason and not read again")
    func skipsBinary() throws {
        try world.folder.write("a.png", "alpha")
        try world.folder.write("b", bytes: Array("alpha".utf8) + [0, 0])
        try world.folder.write("c.txt", bytes: Array("alpha".utf8) + [0, 0])
        let index = try world.indexed()
        #expect(index.status.counts.reasons == ["binary-name": 1, "binary": 2])
        #expect(index.status.counts.skipped == 3)
        #expect(try index.hits("alpha").isEmpty)
        #expect(try index.runPass().settled == 0)
    }

    @Test("names that are not UTF-8 are indexed under a repaired name")
    func indexesRawNames() throws {
        let raw = (Array((world.folder.path + "/a").utf8) + [0xFF, 0]).map { CChar(bitPattern: $0) }
        let descriptor = unsafe open(raw, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        #expect(unsafe write(descriptor, "alpha", 5) == 5)
        close(descriptor)
        let index = try world.indexed()
        #expect(try index.hits("alpha") == ["a\u{FFFD}"])
        #expect(try index.search(SearchQuery("alpha")).hits.map(\.display) == ["a\\xFF"])
        #expect(unsafe unlink(raw) == 0)
        #expect(try index.runPass().removed == 1)
    }

    @Test("an index inside the folder does not index itself")
    func leavesItselfOut() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try SearchIndex(
            folder: world.folder.path,
            directory: world.folder["state/index"],
            options: world.settings()
        )
        #expect(try index.runPass().scanned == 1)
    }
}
