import Foundation
import Glibc
import Indexing
import SampleTestSupport
import Testing
import TreeScan

@Suite("Incremental passes")
struct IncrementalTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    @Test("a second pass over an unchanged folder reads and writes nothing")
    func skipsUnchanged() throws {
        try world.folder.write("a.txt", "alpha")
        try world.folder.write("d/b.md", "beta")
        try world.folder.write("c.bin", bytes: [0, 1, 2])
        let index = try world.indexed()
        #expect(index.status.lastPass?.settled == 3)
        let report = try index.runPass()
        #expect((report.scanned, report.added, report.changed, report.settled) == (3, 0, 0, 0))
        #expect(index.status.isComplete)
    }

    @Test("a folder whose files change again and again does not make the index grow")
    func mergesOutdatedTexts() throws {
        var random = SeededGenerator(seed: 1)
        func writeAll() throws {
            for number in 0..<100 {
                let words = (0..<500).map { _ in String(Int.random(in: 0..<5000, using: &random), radix: 36) }
                try world.folder.write("\(number).txt", words.joined(separator: " "))
            }
        }
        func pagesOfIndex() throws -> Int { try SearchIndex.pages(of: world.database) }
        try writeAll()
        try world.indexed().close()
        let first = try pagesOfIndex()
        for _ in 0..<4 {
            try writeAll()
            try world.indexed().close()
        }
        #expect(Double(try pagesOfIndex()) < 1.2 * Double(first))
    }

    @Test("a changed file is read again, and until then its old text is found")
    func readsChanged() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try world.indexed()
        try world.folder.write("a.txt", "omega")
        let pass = try index.makePass()
        while index.status.counts.pending == 0 { _ = try pass.step() }
        #expect(try index.hits("alpha") == ["a.txt"])
        #expect(!index.status.isComplete)
        while try pass.step() != .finished {}
        #expect(try index.hits("alpha").isEmpty)
        #expect(try index.hits("omega") == ["a.txt"])
    }

    @Test("a change that keeps size and modification time is noticed by the change time")
    func readsChangedWithOldTime() throws {
        try world.folder.write("a.txt", "alpha")
        var status = stat()
        #expect(unsafe stat(world.folder["a.txt"], &status) == 0)
        let index = try world.indexed()
        try world.folder.write("a.txt", "omega")
        let times = [status.st_atim, status.st_mtim]
        #expect(unsafe utimensat(AT_FDCWD, world.folder["a.txt"], times, 0) == 0)
        try index.runPass()
        #expect(try index.hits("omega") == ["a.txt"])
    }

    @Test("deleted and renamed files leave the index, and a folder with all that is below it")
    func removesDeleted() throws {
        for name in ["a.txt", "b.txt", "d/c.txt", "d/e/f.txt", "d-g.txt"] { try world.folder.write(name, "alpha") }
        let index = try world.indexed()
        try world.folder.remove("a.txt")
        try world.folder.rename("b.txt", "z.txt")
        try world.folder.remove("d")
        let report = try index.runPass()
        #expect(try index.hits("alpha") == ["z.txt", "d-g.txt"])
        #expect(report.removed == 4)
        #expect(index.status.counts.files == 2)
    }

    @Test("a file becomes a folder and a folder becomes a file")
    func exchangesKinds() throws {
        try world.folder.write("x", "alpha")
        try world.folder.write("y/a.txt", "alpha")
        let index = try world.indexed()
        try world.folder.remove("x")
        try world.folder.write("x/a.txt", "alpha")
        try world.folder.remove("y")
        try world.folder.write("y", "alpha")
        try index.runPass()
        #expect(try index.hits("alpha") == ["x/a.txt", "y"])
    }

    @Test("a file whose times are within two seconds of its reading is read once more, then left alone")
    func readsRacyFilesAgain() throws {
        try world.folder.write("a.txt", "alpha")
        world.clockOffset = 0
        let index = try world.indexed()
        world.clockOffset = 10
        #expect(try index.runPass().changed == 1)
        #expect(try index.runPass().changed == 0)
    }

    @Test("files below a folder that cannot be walked are not taken for deleted")
    func keepsUnreachable() throws {
        for name in ["a.txt", "d/b.txt", "d/e/c.txt", "d/e/f/g.txt"] { try world.folder.write(name, "alpha") }
        try world.indexed().close()
        let index = try world.indexed { $0.scan.maximumDepth = 2 }
        #expect(index.status.lastPass?.unreadable == 1)
        #expect(try index.hits("alpha").count == 4)
        try world.folder.remove("d/e")
        #expect(try index.runPass().removed == 2)
        #expect(try index.hits("alpha") == ["a.txt", "d/b.txt"])
    }

    @Test("files in a folder without rights are not taken for deleted", .enabled(if: geteuid() != 0))
    func keepsDenied() throws {
        for name in ["a.txt", "d/b.txt", "d/e/c.txt"] { try world.folder.write(name, "alpha") }
        let index = try world.indexed()
        try world.folder.setMode("d", 0)
        let report = try index.runPass()
        #expect((report.removed, report.unreadable) == (0, 1))
        #expect(try index.hits("alpha").count == 3)
    }

    @Test("a root that is gone is an error, and the index goes on answering")
    func survivesMissingRoot() throws {
        try world.folder.write("root/a.txt", "alpha")
        let index = try SearchIndex(
            folder: world.folder["root"],
            directory: world.directory,
            options: world.settings()
        )
        try index.runPass()
        try world.folder.rename("root", "elsewhere")
        #expect(throws: IndexError.self) { try index.makePass() }
        #expect(index.status.pause?.contains("does not exist") == true)
        #expect(try index.hits("alpha") == ["a.txt"])
        try world.folder.rename("elsewhere", "root")
        #expect(try index.runPass().removed == 0)
    }

    @Test("a root that is exchanged during the scan deletes nothing")
    func survivesExchangedRoot() throws {
        try world.folder.write("root/a.txt", "alpha")
        let index = try SearchIndex(folder: world.folder["root"], directory: world.directory, options: world.settings())
        try index.runPass()
        try world.folder.remove("root/a.txt")
        let pass = try index.makePass()
        try world.folder.rename("root", "old")
        try world.folder.makeFolder("root")
        while try pass.step() != .finished {}
        #expect(try index.hits("alpha") == ["a.txt"])
    }

    @Test(
        "random edits, some of them during a pass, leave the hit sets of an index made from scratch",
        arguments: [1, 2, 3])
    func equalsOracle(seed: UInt64) throws {
        var random = WordWorld(seed: seed)
        var names = try random.populate(world.folder, files: 150)
        let index = try world.open()
        for round in 0..<4 {
            let pass = try index.makePass()
            var steps = 0
            while try pass.step(limit: BatchLimit(documents: 20, entries: 30)) != .finished {
                steps += 1
                guard steps % 3 == round % 3 else { continue }
                try edit(&random, &names)
            }
        }
        try index.runPass()
        try index.runPass()
        let found = try index.hitSets()
        #expect(found == (try world.oracle()), "seed \(seed)")
        #expect(found == (try world.naiveHitSets()), "seed \(seed)")
        try index.close()
        #expect(try SearchIndex.integrity(of: world.database) == ["ok"])
    }

    /// One change of the folder: a new, changed, removed or renamed file.
    private func edit(_ random: inout WordWorld, _ names: inout [String]) throws {
        let choice = Int.random(in: 0..<4, using: &random.generator)
        let index = Int.random(in: 0..<names.count, using: &random.generator)
        switch choice {
        case 0:
            let name = random.name()
            try world.folder.write(name, random.text(words: 30))
            if !names.contains(name) { names.append(name) }
        case 1:
            try world.folder.write(names[index], random.text(words: 30))
        case 2 where names.count > 20:
            try world.folder.remove(names.remove(at: index))
        default:
            let name = names[index] + "~"
            try world.folder.rename(names[index], name)
            names[index] = name
        }
    }
}
