#if SQLite
import Foundation
import GRDB
import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSTesting
import Testing

@testable import QoSSQLiteStore

@Suite("The file of a store")
struct StoreFileTests {
    private let now = WallTime(secondsSince1970: 1_800_000_000)

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("the file and its companions are for their owner alone")
    func modes() async throws {
        let place = try StorePlace()
        let store = try place.open()
        _ = try await store.insert([WorkloadRequest("a")], at: now)
        for suffix in ["", "-wal", "-shm", "-notice"] {
            #expect(try mode(place.path + suffix) == 0o600, "\(suffix)")
        }
    }

    @Test("a missing file is not made if that is not allowed")
    func missing() throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        configuration.creates = false
        #expect(throws: SQLiteStoreError.missing(path: place.path)) { try place.open(configuration) }
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test("a folder that is missing, and a folder in the place of the file, are told")
    func unopenable() throws {
        let place = try StorePlace()
        for path in [place.folder["no/such/file"], place.folder.path] {
            let error = #expect(throws: SQLiteStoreError.self) { try SQLiteStore(at: path) }
            guard case .cannotOpen = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test("a text file, another program's database and a newer store are refused and stay as they are")
    func foreign() throws {
        let place = try StorePlace()
        func refusal(_ name: String, _ prepare: (String) throws -> Void) throws -> SQLiteStoreError? {
            let path = place.folder[name]
            try prepare(path)
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let error = #expect(throws: SQLiteStoreError.self) { try SQLiteStore(at: path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "\(name)")
            return error
        }
        func database(_ sql: String) -> (String) throws -> Void {
            { path in
                let queue = try DatabaseQueue(path: path)
                try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
                try queue.close()
            }
        }
        let text = String(repeating: "no database at all ", count: 100)
        #expect(
            try refusal("text") { try text.write(toFile: $0, atomically: false, encoding: .utf8) }
                == .notADatabase(path: place.folder["text"]))
        #expect(
            try refusal("tables", database("CREATE TABLE other (x)"))
                == .foreign(path: place.folder["tables"], application: 0))
        #expect(
            try refusal("id", database("PRAGMA application_id = 77"))
                == .foreign(path: place.folder["id"], application: 77))
        let newer = database("PRAGMA application_id = \(StoreSchema.application); PRAGMA user_version = 99")
        #expect(
            try refusal("newer", newer)
                == .newer(path: place.folder["newer"], version: 99, supported: StoreSchema.steps.count))
    }

    @Test("a damaged file is told, with the way out")
    func damaged() async throws {
        let place = try StorePlace()
        let store = try place.open()
        for _ in 0..<20 {
            _ = try await store.insert([WorkloadRequest("a", parameters: [UInt8](repeating: 1, count: 900))], at: now)
        }
        try store.close()
        let file = try #require(FileHandle(forUpdatingAtPath: place.path))
        let end = try file.seekToEnd()
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xEE, count: Int(end) - 4096))
        try file.close()
        let error = await #expect(throws: SQLiteStoreError.self) {
            let store = try place.open()
            _ = try await store.records(matching: WorkloadQuery())
        }
        guard case .damaged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(try #require(error))".contains(".recover"))
    }

    @Test("a full store refuses the call that needs space, keeps the others, and goes on when there is space")
    func full() async throws {
        let place = try StorePlace()
        let store = try place.open()
        let first = try await store.insert([WorkloadRequest("a")], at: now)[0].item
        try await store.setPageLimit(40)
        let large = WorkloadRequest("a", parameters: [UInt8](repeating: 1, count: 1 << 20))
        await #expect(throws: SQLiteStoreError.diskFull(path: place.path)) {
            try await store.insert([large], at: self.now)
        }
        // A small one beside it is not its victim.
        async let refused = #expect(throws: SQLiteStoreError.self) { try await store.insert([large], at: self.now) }
        let second = try await store.insert([WorkloadRequest("a")], at: now)[0].item
        _ = await refused
        #expect(try await store.records(matching: WorkloadQuery()).map(\.id) == [first, second])
        try await store.setPageLimit(1 << 20)
        let third = try await store.insert([large], at: now)[0].item
        #expect(try await store.record(of: third)?.request.parameters.count == 1 << 20)
    }

    @Test("a lock of another process that does not end is told; the call can be repeated")
    func locked() async throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        configuration.lockLimit = .milliseconds(20)
        let store = try place.open(configuration)
        var settings = GRDB.Configuration()
        settings.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: place.path, configuration: settings)
        try other.inDatabase { try $0.beginTransaction(.immediate) }
        await #expect(throws: SQLiteStoreError.locked(path: place.path, after: .milliseconds(20))) {
            try await store.insert([WorkloadRequest("a")], at: self.now)
        }
        // Reads go on.
        #expect(try await store.records(matching: WorkloadQuery()).isEmpty)
        try other.inDatabase { try $0.rollback() }
        #expect(try await store.insert([WorkloadRequest("a")], at: now).count == 1)
    }

    @Test("a closed store says so, and its streams end")
    func closed() async throws {
        let place = try StorePlace()
        let store = try place.open()
        let changes = store.changes()
        try store.close()
        for await _ in changes {}
        await #expect(throws: SQLiteStoreError.closed(path: place.path)) {
            try await store.insert([WorkloadRequest("a")], at: self.now)
        }
    }

    @Test("a change in one store is a hint in another one on the same file")
    func notices() async throws {
        let place = try StorePlace()
        let (store, other) = (try place.open(), try place.open())
        var changes = other.changes().makeAsyncIterator()
        _ = try await store.insert([WorkloadRequest("a")], at: now)
        await changes.next()
        #expect(try await other.records(matching: WorkloadQuery()).count == 1)
    }

    @Test(
        "a file that is removed while the store is open is written again by the next call, with all of its content",
        arguments: ["the file", "the file, its log stays", "the folder"])
    func removed(what: String) async throws {
        let place = try StorePlace()
        let path = place.folder["inner"] + "/work.sqlite"
        try FileManager.default.createDirectory(atPath: place.folder["inner"], withIntermediateDirectories: true)
        var configuration = StorePlace.quick
        let restored = Lock(0)
        configuration.fileRestored = { restored.withLock { $0 += 1 } }
        let store = try SQLiteStore(at: path, configuration: configuration)
        let first = try await store.insert([WorkloadRequest("a")], at: now)[0].item
        let claim = try #require(try await store.claim(ClaimRequest(host: "h", workloads: ["a"]), at: now))
        try await store.setPaused("a", because: "test", at: now)
        switch what {
        case "the file":
            for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
        case "the folder": try FileManager.default.removeItem(atPath: place.folder["inner"])
        default: try FileManager.default.removeItem(atPath: path)
        }
        // No connection that reads has been opened before.
        #expect(try await store.pauses() == ["a": "test"])
        let second = try await store.insert([WorkloadRequest("b")], at: now)[0].item
        #expect(restored.withLock { $0 } == 1 && second.rawValue == first.rawValue + 1)
        #expect(try mode(path) == 0o600)
        // The lease is the same.
        try await store.end(claim.lease, .finished, at: now)
        // Another process' store on the new file: the hints of both go on.
        let other = try SQLiteStore(at: path, configuration: StorePlace.quick)
        #expect(try await other.records(matching: WorkloadQuery()).map(\.id) == [first, second])
        #expect(try await other.record(of: first)?.state == .finished)
        #expect(try await other.pauses() == ["a": "test"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder["inner"]).count == 4)
        try store.close()
        #expect(throws: Never.self) { try SQLiteStore(at: path, configuration: StorePlace.quick) }
    }

    @Test("a store whose file was removed and written again still hears of changes by others")
    func hearsAfterRemoval() async throws {
        let place = try StorePlace()
        let store = try place.open()
        var changes = store.changes().makeAsyncIterator()
        for suffix in ["", "-wal", "-shm", "-notice"] {
            try FileManager.default.removeItem(atPath: place.path + suffix)
        }
        _ = try await store.insert([WorkloadRequest("a")], at: now)
        await changes.next()
        let other = try place.open()
        _ = try await other.insert([WorkloadRequest("b")], at: now)
        await changes.next()
        #expect(try await store.records(matching: WorkloadQuery()).count == 2)
    }

    @Test("another file in the place of the open one: a store is used from then on, and others are refused")
    func displaced() async throws {
        let place = try StorePlace()
        let store = try place.open()
        _ = try await store.insert([WorkloadRequest("a"), WorkloadRequest("a")], at: now)
        let other = try SQLiteStore(at: place.folder["other"], configuration: StorePlace.quick)
        _ = try await other.insert([WorkloadRequest("b")], at: now)
        try other.close()
        func put(_ name: String) throws {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: place.path + suffix)
                guard FileManager.default.fileExists(atPath: place.folder[name] + suffix) else { continue }
                try FileManager.default.moveItem(atPath: place.folder[name] + suffix, toPath: place.path + suffix)
            }
        }
        try put("other")
        let third = try await store.insert([WorkloadRequest("c")], at: now)[0].item
        #expect(try await store.records(matching: WorkloadQuery()).map(\.request.name) == ["b", "c"])
        #expect(third.rawValue == 2)
        try "no database at all, but some text".write(
            toFile: place.folder["text"], atomically: false, encoding: .utf8)
        try put("text")
        await #expect(throws: SQLiteStoreError.notADatabase(path: place.path)) {
            try await store.insert([WorkloadRequest("d")], at: self.now)
        }
        #expect(try String(contentsOfFile: place.path, encoding: .utf8).hasPrefix("no database"))
    }

    @Test("a file with a damaged page is refused at the opening if that is asked for")
    func checksContent() async throws {
        let place = try StorePlace()
        let store = try place.open()
        for _ in 0..<20 {
            _ = try await store.insert([WorkloadRequest("a", parameters: [UInt8](repeating: 1, count: 900))], at: now)
        }
        try store.close()
        var configuration = StorePlace.quick
        configuration.checksContent = true
        try place.open(configuration).close()
        try StorePlace.execute("PRAGMA journal_mode = DELETE", in: place.path)
        let file = try #require(FileHandle(forUpdatingAtPath: place.path))
        let end = try file.seekToEnd()
        try file.seek(toOffset: end - 4096)
        try file.write(contentsOf: Data(repeating: 0xEE, count: 4096))
        try file.close()
        let error = #expect(throws: SQLiteStoreError.self) { try place.open(configuration) }
        guard case .damaged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "a store of an older version gets the tables of the new one, and keeps its content; a step that fails changes nothing"
    )
    func migrates() async throws {
        let place = try StorePlace()
        let store = try place.open()
        let first = try await store.insert([WorkloadRequest("a", unique: .key("one"))], at: now)[0].item
        try await store.setPaused("b", because: "test", at: now)
        try store.close()
        let steps = [
            "ALTER TABLE item ADD COLUMN colour TEXT; UPDATE item SET colour = 'red'",
            "CREATE TABLE extra (id INTEGER PRIMARY KEY); INSERT INTO extra SELECT id FROM item",
        ]
        var failing = StorePlace.quick
        failing.schemaSteps = StoreSchema.steps + steps + ["INSERT INTO none VALUES (1)"]
        #expect(throws: SQLiteStoreError.self) { try place.open(failing) }
        try place.open().close()

        var newer = StorePlace.quick
        newer.schemaSteps = StoreSchema.steps + steps
        let other = try place.open(newer)
        #expect(try await other.records(matching: WorkloadQuery()).map(\.id) == [first])
        #expect(try await other.pauses() == ["b": "test"])
        #expect(try await other.insert([WorkloadRequest("a", unique: .key("one"))], at: now)[0].item == first)
        try other.close()
        func value(_ query: String) throws -> String? { try StorePlace.execute("", in: place.path, query: query) }
        #expect(try value("PRAGMA user_version") == "\(StoreSchema.steps.count + 2)")
        #expect(try value("SELECT colour FROM item") == "red")
        #expect(try value("SELECT id FROM extra") == "\(first.rawValue)")
        let supported = StoreSchema.steps.count
        #expect(throws: SQLiteStoreError.newer(path: place.path, version: supported + 2, supported: supported)) {
            try place.open()
        }
    }

    @Test("items that an older version has parked although their key has a place can begin, and others stay parked")
    func migratesParked() async throws {
        let place = try StorePlace()
        let store = try place.open()
        let keys = [("full", 1), ("full", 1), ("full", 3), ("free", 1)]
        let requests = keys.map { WorkloadRequest("a", concurrency: ConcurrencyKey($0.0, limit: $0.1)) }
        let ids = try await store.insert(requests, at: now).map(\.item)
        let claim = ClaimRequest(host: "h", workloads: ["a"])
        #expect(try await store.claim(claim, at: now)?.record.id == ids[0])
        try store.close()
        // The third step, on what the second version has left.
        try StorePlace.execute("UPDATE item SET place = 2 WHERE id > \(ids[0].rawValue)", in: place.path)
        try StorePlace.execute(StoreSchema.steps[2], in: place.path)
        let opened = try place.open()
        #expect(
            try StorePlace.execute("", in: place.path, query: "SELECT group_concat(id) FROM item WHERE place = 2")
                == "\(ids[1].rawValue)")
        #expect(try await opened.claim(claim, at: now)?.record.id == ids[2])
        #expect(try await opened.claim(claim, at: now)?.record.id == ids[3])
        #expect(try await opened.claim(claim, at: now) == nil)
    }

    @Test("a store of the third version keeps its items, lanes and holders, and its items are counted")
    func migratesFourth() async throws {
        let place = try StorePlace()
        try place.open().close()
        // The tables of the third version, and rows as that one wrote them.
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path + suffix) }
        try StorePlace.execute(
            StoreSchema.steps.prefix(3).joined() + """
                ; PRAGMA application_id = \(StoreSchema.application); PRAGMA user_version = 3;
                INSERT INTO workload (id, name) VALUES (1, 'a');
                INSERT INTO gate (id, conditions) VALUES (1, '[{"named":{"_0":"x"}}]');
                INSERT INTO lane (id, workload, gate) VALUES (1, 1, 0), (2, 1, 1);
                UPDATE store SET latest = \(now.nanosecondsSince1970), last_id = 3, lanes = 2;
                INSERT INTO request (item, level, parameters, options) VALUES (1, 15, x'', NULL), (2, 31, x'', NULL),
                    (3, 15, x'', NULL);
                INSERT INTO item SELECT value, 1, 1 + (value = 2), iif(value = 3, 0, 1), iif(value = 2, 31, 15), 7,
                    iif(value = 3, 7, 3), 7, 0, 0, 0, 0, 0, 0, 7, 7, 7, NULL, NULL, NULL, NULL, 'r', NULL, NULL, NULL,
                    NULL, NULL, NULL FROM json_each('[1, 2, 3]');
                """, in: place.path)
        let store = try place.open()
        let summary = try await store.summary()
        #expect(summary[.background, .ready].count == 1 && summary[.utility, .ready].count == 1)
        #expect(summary.count(.dead) == 1)
        #expect(try await store.records(matching: WorkloadQuery()).map(\.state) == [.ready, .ready, .dead])
        let claim = try await store.claim(ClaimRequest(host: "h", workloads: ["a"]) { _ in .met }, at: now)
        #expect(claim?.record.id == WorkloadItemID(rawValue: 2))
        #expect(claim?.record.request.version == 1 && claim?.record.life.crashes == 0)
        let new = try await store.insert([WorkloadRequest("a", version: 2)], at: now)[0].item
        #expect(try await store.claim(ClaimRequest(host: "h", workloads: ["a"]), at: now)?.record.id.rawValue == 1)
        #expect(try await store.claim(ClaimRequest(host: "h", workloads: ["a"]), at: now) == nil)
        #expect(try await store.record(of: new)?.state == .ready)
    }

    @Test(
        "the numbers by class and state are right with many lanes, several stores, and a program that knows no changes")
    func tallies() async throws {
        let place = try StorePlace()
        let (one, two) = (try place.open(), try place.open())
        func pending() throws -> Int {
            let query = "SELECT count(*) FROM store, json_each(tally_changes)"
            return Int(try StorePlace.execute("", in: place.path, query: query) ?? "") ?? -1
        }
        func expectCounts(_ counts: [WorkloadState: Int], _ comment: Comment) async throws {
            for store in [one, two, try place.open()] {
                let summary = try await store.summary()
                for (state, count) in counts { #expect(summary.count(state) == count, comment) }
            }
        }
        _ = try await one.insert([WorkloadRequest("a", level: .utility)], at: now)
        _ = try await two.insert([WorkloadRequest("a", level: .utility), WorkloadRequest("b")], at: now)
        #expect(try pending() == 2)
        // One call for each store by turns: each has to learn what the other has added.
        let first = try #require(try await one.claim(ClaimRequest(host: "h", workloads: ["a"]), at: now))
        let second = try #require(try await two.claim(ClaimRequest(host: "i", workloads: ["a"]), at: now))
        try await one.end(first.lease, .finished, at: now)
        try await expectCounts([.ready: 1, .running: 1, .finished: 1], "two stores")
        // Each workload has a lane, and more of them than the row has room for.
        let names = (0..<TallyChanges.limit * 2).map { WorkloadName("many-\($0)") }
        _ = try await two.insert(names.prefix(TallyChanges.limit / 2).map { WorkloadRequest($0) }, at: now)
        #expect(try pending() > TallyChanges.limit / 2)
        _ = try await one.insert(names.dropFirst(TallyChanges.limit / 2).map { WorkloadRequest($0) }, at: now)
        #expect(try pending() == 0)
        try await two.end(second.lease, .finished, at: now)
        try await expectCounts([.ready: 1 + names.count, .running: 0, .finished: 2], "many lanes")
        // A program of the version before, or a person's hand: the triggers of the file count.
        let removed = "DELETE FROM item WHERE lane = (SELECT max(lane) FROM item)"
        try StorePlace.execute(removed, in: place.path)
        try await expectCounts([.ready: names.count, .running: 0, .finished: 2], "a foreign hand")
    }

    @Test("a transaction that failed leaves no numbers behind")
    func talliesOfFailure() async throws {
        let place = try StorePlace()
        let store = try place.open()
        let requests = [WorkloadRequest("a", level: .background), WorkloadRequest("a", level: .utility)]
        _ = try await store.insert([requests[1]], at: now)
        // The second of the requests cannot be written after the first one was.
        try StorePlace.execute("CREATE UNIQUE INDEX refuse ON request (level)", in: place.path)
        await #expect(throws: SQLiteStoreError.self) { try await store.insert(requests, at: now) }
        try StorePlace.execute("DROP INDEX refuse", in: place.path)
        _ = try await store.insert([requests[1]], at: now)
        let summary = try await store.summary()
        #expect(summary[.utility, .ready].count == 2 && summary[.background, .ready].count == 0)
    }

    @Test("a log that was removed while the store was open is left behind, and nothing is lost")
    func removedLog() async throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        let restored = Lock(0)
        configuration.fileRestored = { restored.withLock { $0 += 1 } }
        let store = try place.open(configuration)
        for round in 1...3 {
            _ = try await store.insert([WorkloadRequest("a")], at: now)
            try FileManager.default.removeItem(atPath: place.path + "-wal")
            _ = try await store.insert([WorkloadRequest("b")], at: now)
            #expect(try await store.records(matching: WorkloadQuery()).count == round * 2)
            #expect(FileManager.default.fileExists(atPath: place.path + "-wal"))
            #expect(restored.withLock { $0 } == round)
        }
        // Another process sees all of it.
        #expect(try await place.open().records(matching: WorkloadQuery()).count == 6)
        try store.close()
        #expect(try StorePlace.execute("", in: place.path, query: "SELECT count(*) FROM item") == "6")
        #expect(try StorePlace.execute("", in: place.path, query: "PRAGMA integrity_check") == "ok")
    }

    @Test("a file system without locks is told as that, and at once")
    func noLocks() async throws {
        let place = try StorePlace()
        let store = try place.open()
        var unsafe = Configuration()
        unsafe.allowsUnsafeTransactions = true
        let blocker = try DatabaseQueue(path: place.path, configuration: unsafe)
        try blocker.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        var configuration = StorePlace.quick
        configuration.lockLimit = .seconds(3600)
        configuration.lockProbe = { ENOLCK }
        let error = #expect(throws: SQLiteStoreError.noLocks(path: place.path)) { try place.open(configuration) }
        #expect("\(try #require(error))".contains("local disk"))
        try blocker.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try store.close()
    }

    @Test("a log that a long reader lets grow is told, at its limit and at each doubling")
    func grownLog() async throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        let sizes = Lock<[Int64]>([])
        configuration.logGrown = { size in sizes.withLock { $0.append(size) } }
        let store = try place.open(configuration)
        _ = try await store.insert([WorkloadRequest("a")], at: now)
        let reader = try DatabasePool(path: place.path)
        let lease = try #require(try await store.claim(ClaimRequest(host: "h", workloads: ["a"]), at: now)?.lease)
        try await reader.read { database in
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM item")
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                defer { done.signal() }
                for number in 0..<10 {
                    try await store.save([UInt8](repeating: UInt8(number), count: 16 << 20), nil, under: lease)
                }
            }
            done.wait()
        }
        let told = sizes.withLock { $0 }
        #expect(told.count == 2, "\(told)")
        #expect(told.allSatisfy { $0 > 64 << 20 })
    }

    @Test(
        "a store on a disk of 3 MB goes on, and after it was full, too", .enabled(if: geteuid() == 0, "root may mount"))
    func smallDisk() async throws {
        let folder = try TemporaryFolder("small")
        guard Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=3m", "none", folder.path) else { return }
        defer { _ = Self.run("/bin/umount", "-l", folder.path) }
        let store = try SQLiteStore(at: folder["work.sqlite"], configuration: StorePlace.quick)
        func work(_ count: Int) async throws {
            for _ in 0..<count {
                _ = try await store.insert([WorkloadRequest("a")], at: now)
                let claim = try #require(try await store.claim(ClaimRequest(host: "h", workloads: ["a"]), at: now))
                try await store.end(claim.lease, .finished, at: now)
                try await store.removeEnded(before: now.advanced(by: .seconds(1)))
            }
        }
        // More log than the disk has space.
        try await work(1000)
        try Data(repeating: 1, count: 1 << 20).write(to: URL(fileURLWithPath: folder["other"]))
        while let file = FileHandle(forWritingAtPath: folder["other"]), (try? file.seekToEnd()) != nil,
            (try? file.write(contentsOf: Data(repeating: 1, count: 4096))) != nil
        { try file.close() }
        let error = await #expect(throws: SQLiteStoreError.self) {
            let big = WorkloadRequest("a", parameters: [UInt8](repeating: 1, count: 1 << 20))
            _ = try await store.insert([big], at: self.now)
        }
        #expect(error == .diskFull(path: folder["work.sqlite"]))
        try FileManager.default.removeItem(atPath: folder["other"])
        try await work(100)
        try store.close()
    }

    private static func run(_ program: String, _ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test("a file that this user may not write is refused with the remedy", .enabled(if: geteuid() != 0, "root may"))
    func readOnly() async throws {
        let place = try StorePlace()
        try place.open().close()
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: place.path)
        let error = #expect(throws: SQLiteStoreError.readOnly(path: place.path)) { try place.open() }
        #expect("\(try #require(error))".contains("writable for this user"))
    }

    @Test("more items than one transaction may move become due, or are released, in several")
    func steps() async throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        configuration.stepLimit = 3
        let store = try place.open(configuration)
        let parent = try await store.insert([WorkloadRequest("p")], at: now)[0].item
        _ = try await store.insert((0..<10).map { _ in WorkloadRequest("a", dependencies: [.item(parent)]) }, at: now)
        _ = try await store.insert((0..<10).map { _ in WorkloadRequest("b", schedule: .after(.seconds(5))) }, at: now)
        try await store.cancel(parent, because: "test", at: now)
        let late = now.advanced(by: .seconds(10))
        var calls = 0
        while let due = try await store.nextDue(), due <= late {
            _ = try await store.claim(ClaimRequest(host: "h", workloads: []), at: late)
            calls += 1
        }
        #expect(calls > 3)
        #expect(try await store.records(matching: WorkloadQuery(states: [.cancelled])).count == 11)
        #expect(try await store.records(matching: WorkloadQuery(states: [.ready])).count == 10)
    }

    @Test("an insertion counts on no item that a step left to do is about to cancel")
    func insertionAfterLargeEvent() async throws {
        var configuration = StorePlace.quick
        configuration.stepLimit = 2
        let place = try StorePlace()
        let store = try place.open(configuration)
        let now = WallTime(secondsSince1970: 1_800_000_000)
        let parent = try await store.insert([WorkloadRequest("a")], at: now)[0].item
        let children = try await store.insert(
            (0..<3).map {
                WorkloadRequest(
                    "a", level: .background, dependencies: [.item(parent)],
                    unique: UniqueKey("\($0)", onDuplicate: .keep))
            }, at: now
        ).map(\.item)
        try await store.cancel(parent, because: "stop", at: now)
        #expect(try await store.record(of: children[2])?.state == .blocked, "the third one is left to do")
        let answers = try await store.insert(
            [
                WorkloadRequest("a"),
                WorkloadRequest("a", level: .utility, unique: UniqueKey("2", onDuplicate: .promote)),
            ], at: now)
        #expect(try await store.record(of: children[2])?.state == .cancelled)
        for answer in answers {
            #expect(!children.contains(answer.item))
            #expect(try await store.record(of: answer.item)?.state == .ready)
        }
    }
}
#endif
