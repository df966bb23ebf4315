import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("A snapshot in words")
struct SnapshotTextTests {
    @Test("it has a line for the scheduler and one for each class, in columns, without spaces at the ends")
    func lines() async throws {
        try await withScheduler { scheduler in
            scheduler.setWidthLimit(0, for: .background)
            let snapshot = scheduler.snapshot
            let lines = "\(snapshot)".split(separator: "\n").map(String.init)
            #expect(lines.count == 2 + QoSClass.allCases.count)
            #expect(lines[0].hasPrefix("\(snapshot.processors) processors, effects "))
            let words = lines.dropFirst(2).map { $0.split(separator: " ").map(String.init) }
            #expect(words.map(\.first) == QoSClass.descending.map { "\($0)" })
            #expect(words.allSatisfy { $0.count == 9 })
            #expect(words.map { $0[3] } == ["-", "-", "-", "-", "0"])
            #expect(lines.allSatisfy { $0.last != " " })
            #expect("\(snapshot.pools[4])".hasPrefix("background: 0 of "))
        }
    }
}
