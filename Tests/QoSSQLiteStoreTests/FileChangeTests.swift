#if SQLite
import GRDB
import QoSCore
import QoSWorkloads
import Testing

@testable import QoSSQLiteStore

@Suite("Notes of file changes")
struct FileChangeTests {
    private let start = WallTime(secondsSince1970: 1_800_000_000)

    @Test("a running item's first change is written, and the next ones change nothing and write nothing")
    func writesOnce() async throws {
        let place = try StorePlace()
        let store = try place.open()
        let trigger = FileEventTrigger(paths: ["/srv"], settling: .seconds(2))
        let answers = try await store.insert([WorkloadRequest("a", schedule: .onFileEvents(trigger))], at: start)
        let id = answers[0].item
        try await store.noteFileChange(for: id, at: start)
        let later = start.advanced(by: .seconds(3))
        let request = ClaimRequest(host: "h", workloads: ["a"], classes: Set(QoSClass.allCases)) { _ in .met }
        let claim = try #require(try await store.claim(request, at: later))
        #expect(claim.record.id == id)

        let other = try DatabaseQueue(path: place.path)
        var versions: [Int?] = []
        for second in 0..<4 {
            // It counts the commits of other connections, as this one sees them.
            versions.append(try await other.read { try Int.fetchOne($0, sql: "PRAGMA data_version") })
            try await store.noteFileChange(for: id, at: later.advanced(by: .seconds(second)))
        }
        #expect(versions[1] != versions[0], "the first change is written")
        #expect(versions[2] == versions[1] && versions[3] == versions[1])
        try await store.end(claim.lease, .finished, at: later)
        #expect(try await store.nextDue() == later.advanced(by: .seconds(2)), "the change leads to another run")
        try other.close()
        try store.close()
    }
}
#endif
