import Foundation
import GRDB
import Glibc
import Indexing
import SampleTestSupport
import Testing

@Suite("Bad storage")
struct BadStorageTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    private func asides(_ label: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: world.directory)
            .filter { $0.hasPrefix("index.sqlite.\(label)-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    }

    /// Overwrites a part of the database.
    private func overwrite(from start: Int, count: Int) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: world.database))
        try handle.seek(toOffset: UInt64(start))
        try handle.write(contentsOf: Data(repeating: 0x5A, count: count))
        try handle.close()
    }

    @Test("a database that is none is moved aside, and the index is made anew")
    func replacesGarbage() throws {
        try world.folder.write("a.txt", "alpha")
        try world.indexed().close()
        try overwrite(from: 0, count: 4096)
        let index = try world.open()
        #expect(index.status.notice?.contains("moved to") == true)
        #expect(try asides("corrupt").count == 1)
        try index.runPass()
        #expect(try index.hits("alpha") == ["a.txt"])
    }

    @Test("damage inside the database is found after an unclean end")
    func findsDamageAfterKill() throws {
        var random = WordWorld(seed: 7)
        _ = try random.populate(world.folder, files: 100)
        try world.indexed().close()
        let size = try #require(FileManager.default.attributesOfItem(atPath: world.database)[.size] as? Int)
        try overwrite(from: 4096, count: size - 4096)
        // The note of an owner that did not come to an orderly end.
        try Data("4194304".utf8).write(to: URL(fileURLWithPath: world.directory + "/index.lock"))
        let index = try world.open()
        #expect(index.status.notice?.contains("damaged") == true)
        try index.runPass()
        #expect(try index.hitSets() == world.oracle())
    }

    @Test("a single changed byte in an index that was closed in order is found, wherever it is")
    func findsChangedBytes() throws {
        for number in 0..<40 {
            try world.folder.write("f\(number).txt", "alpha \(number) " + String(repeating: "w\(number) ", count: 400))
        }
        try world.indexed().close()
        let url = URL(fileURLWithPath: world.database)
        let whole = try Data(contentsOf: url)
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<20 {
            var bytes = try Data(contentsOf: url)
            // Behind the header, whose bytes decide whether it is an index at all.
            let place = Int.random(in: 200..<whole.count, using: &generator)
            bytes[place] ^= UInt8.random(in: 1...255, using: &generator)
            try bytes.write(to: url)
            let index = try world.open()
            let notice = index.status.notice ?? ""
            #expect(
                notice.contains("not those that were written") || notice.contains("damaged"), "byte \(place): \(notice)"
            )
            #expect(try !index.search(SearchQuery("alpha")).isComplete)
            try index.runPass()
            #expect(try index.hits("alpha").count == 40)
            try index.close()
        }
        #expect(try world.indexed().status.notice == nil, "an index that nobody changed is as good as before")
    }

    @Test("damage that one search comes upon is told at once, and asks for a rebuild")
    func tellsDamage() throws {
        var random = WordWorld(seed: 8)
        _ = try random.populate(world.folder, files: 300, words: 200)
        try world.indexed().close()
        #expect(world.state.exists("index/index.sum"), "an orderly close leaves the digest")
        let index = try world.open()
        #expect(!index.needsRebuild)
        let size = try #require(FileManager.default.attributesOfItem(atPath: world.database)[.size] as? Int)
        #expect(!world.state.exists("index/index.sum"), "the digest is of a closed index")
        try overwrite(from: 4096 * 4, count: size - 4096 * 4)
        #expect(throws: SearchError.self) { try index.hitSets() }
        #expect(index.needsRebuild)
        #expect(index.status.notice?.contains("damaged") == true)
    }

    @Test("an index whose folder was removed is noticed, made anew in its place, and locked again")
    func replacesRemovedFolder() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try world.indexed()
        #expect(index.isInPlace && !index.needsRebuild)
        try world.state.remove("index")
        #expect(!index.isInPlace && index.needsRebuild)
        #expect {
            try index.runPass()
        } throws: { error in
            if case IndexError.lost = error { true } else { false }
        }
        try index.rebuild(because: "its files are gone")
        #expect(index.status.notice?.contains("removed") == true)
        try index.runPass()
        #expect(try index.hits("alpha") == ["a.txt"])
        #expect(throws: IndexError.self, "the new folder is locked") { try world.open() }
    }

    @Test("the index's files are for this user alone, also where they were not")
    func keepsFilesPrivate() throws {
        try world.folder.write("a.txt", "alpha")
        try world.state.makeFolder("index")
        try world.state.setMode("index", 0o755)
        try world.state.write("index/index.sqlite", "")
        try world.state.setMode("index/index.sqlite", 0o644)
        let index = try world.indexed()
        for name in try FileManager.default.contentsOfDirectory(atPath: world.directory) {
            let mode = try FileManager.default.attributesOfItem(atPath: world.directory + "/" + name)[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(name)")
        }
        try index.close()
        try world.state.setMode("index", 0o777)
        #expect(throws: IndexError.self, "a folder that every user may write to") { try world.open() }
    }

    @Test("a pass that is given up says so, and not that the index is ready")
    func tellsStoppedPass() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try world.open()
        do {
            let pass = try index.makePass()
            while index.status.activity != .indexing { _ = try pass.step() }
        }
        #expect(index.status.activity == .stopped)
        try index.runPass()
        #expect(index.status.activity == .idle)
    }

    @Test("damage that turns up while the index is in use stops the pass, and a rebuild mends it")
    func rebuildsWhileInUse() throws {
        var random = WordWorld(seed: 8)
        _ = try random.populate(world.folder, files: 300, words: 200)
        try world.indexed().close()
        #expect(world.state.exists("index/index.sum"), "an orderly close leaves the digest")
        let index = try world.open()
        let size = try #require(FileManager.default.attributesOfItem(atPath: world.database)[.size] as? Int)
        #expect(!world.state.exists("index/index.sum"), "the digest is of a closed index")
        try overwrite(from: 4096 * 4, count: size - 4096 * 4)
        do {
            _ = try index.hitSets()
            Issue.record("the damage was not noticed")
        } catch let error as SearchError {
            #expect(!error.isUserError)
        }
        do {
            try index.runPass()
            Issue.record("the pass went on")
        } catch IndexError.damaged(_, let detail) {
            try index.rebuild(because: detail)
        }
        try index.runPass()
        #expect(try index.hitSets() == world.oracle())
        #expect(try asides("corrupt").count == 1)
        #expect(index.status.notice?.contains("made anew") == true)
    }

    @Test("a second owner of the same index is refused and told the first one's process")
    func refusesSecondOwner() throws {
        let first = try world.indexed()
        do {
            _ = try world.open()
            Issue.record("the index was opened twice")
        } catch {
            guard case IndexError.inUse(_, let process) = error else { throw error }
            #expect(process == getpid())
            #expect("\(error)".contains("another place"))
        }
        try first.close()
    }

    @Test("an index that was dropped or not opened is free at once, though a child still has the lock")
    func freesTheLock() throws {
        try world.indexed().close()
        let lock = world.directory + "/index.lock"
        var index: SearchIndex? = try world.open()
        let child = try #require(SharedOpenFile(path: lock))
        #expect(index != nil)
        index = nil
        #expect(throws: IndexError.self) { try world.open { $0.substrings = true } }
        try world.open().close()
        #expect(try Data(contentsOf: URL(filePath: lock)).isEmpty, "the refusal does not look like an unclean end")
        withExtendedLifetime(child) {}
    }

    @Test("the database of another program is left alone")
    func leavesForeignDatabases() throws {
        try FileManager.default.createDirectory(atPath: world.directory, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: world.database)
        try queue.write { try $0.execute(sql: "CREATE TABLE precious (value TEXT)") }
        try queue.close()
        #expect(throws: IndexError.self) { try world.open() }
        #expect(try DatabaseQueue(path: world.database).read { try $0.tableExists("precious") })
        #expect(try asides("corrupt").isEmpty)
    }

    @Test("the index of another folder is refused")
    func refusesOtherFolders() throws {
        try world.indexed().close()
        let other = try TemporaryFolder()
        #expect(throws: IndexError.self) {
            try SearchIndex(folder: other.path, directory: world.directory, options: world.settings())
        }
    }

    @Test("an index of another version is moved aside and made anew")
    func replacesOutdated() throws {
        try world.folder.write("a.txt", "alpha")
        try world.indexed().close()
        let queue = try DatabaseQueue(path: world.database)
        try queue.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        try queue.close()
        let index = try world.indexed()
        #expect(try asides("outdated").count == 1)
        #expect(try index.hits("alpha") == ["a.txt"])
    }

    @Test("a lock that another program holds pauses the pass, searches go on, and so does the pass afterwards")
    func waitsForLocks() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try world.indexed()
        try world.folder.write("b.txt", "alpha")
        let other = try DatabaseQueue(path: world.database)
        let pass = try index.makePass()
        try other.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            #expect(try pass.step() == .paused(.databaseBusy))
            #expect(index.status.activity == .paused)
            #expect(try index.hits("alpha") == ["a.txt"])
            try database.execute(sql: "ROLLBACK")
        }
        while try pass.step() != .finished {}
        #expect(try index.hits("alpha") == ["a.txt", "b.txt"])
    }

    @Test("a full database pauses the pass, keeps what is indexed, and goes on when there is room")
    func pausesAtTheLimit() throws {
        var random = WordWorld(seed: 9)
        _ = try random.populate(world.folder, files: 400, words: 200)
        let index = try world.open { $0.databaseSizeLimit = 600_000 }
        let pass = try index.makePass()
        var outcome = StepOutcome.progress
        while outcome == .progress { outcome = try pass.step(limit: BatchLimit(documents: 20)) }
        #expect(outcome == .paused(.diskFull))
        #expect(index.status.pause?.contains("Make room") == true)
        let counts = index.status.counts
        #expect(counts.indexed > 0 && counts.pending > 0)
        #expect(try pass.step() == .paused(.diskFull))
        #expect(try index.hitSets().values.contains { !$0.isEmpty })
        try index.close()
        #expect(try SearchIndex.integrity(of: world.database) == ["ok"])

        let roomy = try world.open()
        #expect(roomy.status.counts == counts)
        let report = try roomy.runPass()
        #expect(report.settled == counts.pending)
        #expect(try roomy.hitSets() == world.oracle())
    }

    @Test("an index folder that cannot be made or written to is refused with its path")
    func refusesBadDirectories() throws {
        try world.state.write("file", "x")
        #expect(throws: IndexError.self) {
            try SearchIndex(folder: world.folder.path, directory: world.state["file/index"])
        }
        #expect(throws: IndexError.self) {
            try SearchIndex(folder: world.folder.path, directory: "/proc/none/index")
        }
    }

    @Test("a pass that is dropped half-way is taken up by the next one without repeating what was committed")
    func resumes() throws {
        var random = WordWorld(seed: 10)
        _ = try random.populate(world.folder, files: 200)
        let index = try world.open()
        var pass: IndexPass? = try index.makePass()
        #expect(throws: IndexError.self) { try index.makePass() }
        while index.status.counts.indexed < 60 { _ = try pass?.step(limit: BatchLimit(documents: 25)) }
        pass = nil
        let done = index.status.settled
        try index.close()
        let again = try world.open()
        let report = try again.runPass()
        #expect(done + report.settled == 200)
        #expect(try again.hitSets() == world.oracle())
    }

    @Test("a closed index says so")
    func refusesAfterClose() throws {
        let index = try world.indexed()
        try index.close()
        #expect(throws: IndexError.self) { try index.makePass() }
        #expect(throws: SearchError.self) { try index.hits("alpha") }
        try index.close()
    }

    @Test("an orderly close leaves no log behind")
    func leavesNoLog() throws {
        try world.folder.write("a.txt", "alpha")
        let index = try world.indexed()
        _ = try index.hits("alpha")
        try index.close()
        let size = try? FileManager.default.attributesOfItem(atPath: world.database + "-wal")[.size] as? Int
        #expect((size ?? 0) == 0)
    }
}
