import Indexing
import SampleTestSupport
import Testing

@testable import qos_service

@Suite("The lanes of searches")
struct SearchLanesTests {
    let world: IndexWorld
    let index: SearchIndex

    init() throws {
        world = try IndexWorld()
        for number in 0..<6 { try world.folder.write("same\(number).txt", String(repeating: "a ", count: 500_000)) }
        try world.folder.write("other.txt", "fox")
        index = try world.indexed()
    }

    /// A search that takes the database long.
    private static func long() throws -> SearchQuery {
        try SearchQuery("a OR a OR a OR a OR a", syntax: .fts)
    }

    @Test("a search that takes too long for the quick lane is answered in the slow one")
    func movesToSlowLane() async throws {
        let limits = SearchLimits(quickTime: .zero, time: .seconds(1000))
        let lanes = try SearchLanes(index: index, processors: 2, limits: limits)
        #expect(try await lanes.search(SearchQuery("fox")).hits.map(\.path) == ["other.txt"])
    }

    @Test("a search that takes too long for the slow lane too is given up")
    func givesUp() async throws {
        let limits = SearchLimits(quickTime: .zero, time: .milliseconds(1))
        let lanes = try SearchLanes(index: index, processors: 2, limits: limits)
        let long = try Self.long()
        await #expect(throws: SearchError.timedOut) { try await lanes.search(long) }
    }

    @Test("beyond the waiting places searches are refused, and one that waits can be cancelled")
    func refuses() async throws {
        let limits = SearchLimits(quickTime: .zero, time: .seconds(1000), slowWaiting: 0)
        let lanes = try SearchLanes(index: index, processors: 2, limits: limits)
        let long = try Self.long()
        let areAnswered = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        _ = try await lanes.search(long)
                        return true
                    } catch is BusyError {
                        return false
                    }
                }
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(areAnswered.contains(true) && areAnswered.contains(false))
        let task = Task { try await lanes.search(long) }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }
}
