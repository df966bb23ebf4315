import Indexing
import SampleTestSupport
import Testing
import TreeScan

@Suite("Ignored files")
struct IgnoredFilesTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    @Test("a file that becomes ignored leaves the index with the next pass, and comes back when it is not any more")
    func follows() throws {
        try world.folder.write("a.txt", "alpha")
        try world.folder.write("build/b.txt", "alpha")
        let index = try world.indexed()
        #expect(try index.hits("alpha") == ["a.txt", "build/b.txt"])
        try world.folder.write(".gitignore", "build/\n")
        #expect(try index.runPass().removed == 1)
        #expect(try index.hits("alpha") == ["a.txt"])
        try world.folder.write("build/.gitignore", "!b.txt\n")
        #expect(try index.runPass().removed == 0, "a folder that is left out is not entered")
        try world.folder.write(".ignore", "!build\n")
        try index.runPass()
        #expect(try index.hits("alpha") == ["a.txt", "build/b.txt"])
        #expect(index.status.isComplete)
    }

    @Test("a line without effect is in the status, with its place")
    func reports() throws {
        try world.folder.write("d/.ignore", "# fine\n[a\n")
        let index = try world.indexed()
        let problem = try #require(index.status.ignoreProblems.first)
        #expect((problem.path, problem.reason) == ("d/.ignore", "ignore-pattern"))
        #expect(problem.detail.contains("line 2"))
        try world.folder.write("d/.ignore", "a\n")
        try index.runPass()
        #expect(index.status.ignoreProblems.isEmpty)
    }

    @Test("without ignore files every file counts")
    func canBeOff() throws {
        try world.folder.write(".ignore", "*")
        try world.folder.write("a.txt", "alpha")
        let index = try world.indexed { $0.scan.ignoreFiles = [] }
        #expect(try index.hits("alpha") == ["a.txt"])
    }
}
