import Backup
import Foundation
import SampleTestSupport
import Testing
import TreeScan

@Suite("What a backup leaves out")
struct ExcludeTests {
    private func names(_ world: BackupWorld, _ options: BackupOptions) async throws -> Set<String> {
        let snapshot = try await world.backUp(options).snapshot
        var names: Set<String> = []
        _ = try await world.open().list(snapshot) { path, node in names.insert(path.description) }
        return names
    }

    private func fill(_ world: BackupWorld) throws {
        for name in ["a.tmp", "b", "cache/one", "deep/cache", "deep/kept.tmp", "deep/er/x", "#a#", "out/built"] {
            try world.temporary.write("source/\(name)", name)
        }
    }

    /// Patterns, and what they leave out.
    private static let rows: [([String], Set<String>)] = [
        (["*.tmp"], ["a.tmp", "deep/kept.tmp"]),
        (["*.tmp", "!kept.tmp"], ["a.tmp"]),
        (["cache/"], ["cache", "cache/one"]),
        (["cache"], ["cache", "cache/one", "deep/cache"]),
        (["/b", "deep/er"], ["b", "deep/er", "deep/er/x"]),
        (["**/x"], ["deep/er/x"]),
        (["\\#*#"], ["#a#"]),
        (["out/*"], ["out/built"]),
    ]

    @Test("patterns are those of ignore files", arguments: rows)
    func patterns(excludes: [String], without: Set<String>) async throws {
        let world = try BackupWorld()
        try fill(world)
        let all = try await names(world, world.options)
        var options = world.options
        options.excludes = excludes
        #expect(try await all.subtracting(names(world, options)) == without)
    }

    @Test(
        "a text that is no pattern is an error with what to do, before anything is written",
        arguments: ["a[", "", "#", "a\nb"])
    func malformed(pattern: String) async throws {
        let world = try BackupWorld()
        var options = world.options
        options.excludes = ["*.o", pattern]
        let error = await #expect(throws: ExcludeError.self) { try await world.backUp(options) }
        #expect(error?.description.contains("is no pattern") == true)
        #expect(try world.leftovers() == [])
    }

    @Test("a service reads the parameters that an earlier version stored")
    func storedParameters() throws {
        let text = #"{"excludes":["*.o"],"folder":"/a","oneFileSystem":true,"repository":"/b"}"#
        let read = try JSONDecoder().decode(BackupWorkload.Parameters.self, from: Data(text.utf8))
        #expect(read.excludes == ["*.o"] && read.ignoreFiles == [] && read.oneFileSystem)
    }

    @Test("ignore files count if they are named, for files, folders, links and pipes, and a bad line is told")
    func ignoreFiles() async throws {
        let world = try BackupWorld()
        try fill(world)
        try world.temporary.makeLink("source/link.tmp", to: "b")
        try world.temporary.makePipe("source/deep/pipe.tmp")
        try world.temporary.write("source/.gitignore", "*.tmp\na[\nout/\n")
        try world.temporary.write("source/deep/.gitignore", "!kept.tmp\n/er\n")
        let all = try await names(world, world.options)
        #expect(all.contains("link.tmp") && all.contains("out/built"))
        var options = world.options
        options.ignoreFiles = [".gitignore"]
        let report = try await world.backUp(options)
        #expect(report.ignoreProblems.map(\.line) == [2])
        #expect(report.problems == [] && report.snapshot.problems == 0)
        let without = try await all.subtracting(names(world, options))
        #expect(without == ["a.tmp", "link.tmp", "deep/pipe.tmp", "out", "out/built", "deep/er", "deep/er/x"])

        // A comparison with the same names finds nothing more in the folder, and without them all that was left out.
        let repository = try world.open()
        var verifying = VerifyOptions()
        func differences() async throws -> Int {
            try await VerifyRun(
                repository, repository.snapshot(named: "latest"), against: world.source, options: verifying
            ).run().differences
        }
        #expect(try await differences() == 5)
        verifying.ignoreFiles = [".gitignore"]
        #expect(try await differences() == 0)
    }
}
