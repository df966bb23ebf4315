import Testing

@testable import QoSRuntime

@Suite("The pool's word")
struct PoolWordTests {
    @Test("work that comes while somebody searches wakes nobody")
    func searching() throws {
        let (started, first) = PoolWord().workAdded(width: 2) { _ in nil }
        #expect(first == .start(worker: 0))
        #expect(started.searching == 1)
        let (same, second) = started.workAdded(width: 2) { _ in nil }
        #expect(second == .nothing)
        #expect(same == started)
    }
}
