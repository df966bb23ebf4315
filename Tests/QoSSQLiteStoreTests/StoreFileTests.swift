#if SQLite
import Foundation
import GRDB
import QoSCore
import QoSFileTestSupport
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
                == .newer(path: place.folder["newer"], version: 99, supported: StoreSchema.version))
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
}
#endif
