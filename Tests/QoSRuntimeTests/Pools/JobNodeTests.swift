import Testing

@testable import QoSRuntime

@Suite("A node")
struct JobNodeTests {
    @Test("keeps its tag whatever its links become", arguments: [0, 5, 0xFF])
    func tag(_ executor: Int) {
        let nodes = MadeNodes(count: 3)
        nodes[1].prepare(.job(executor: executor))
        nodes[1].next = nodes[0]
        nodes[1].previous = nodes[2]
        #expect(nodes[1].tag == .job(executor: executor))
        #expect(nodes[1].tag.executor == executor)
        #expect(!nodes[1].tag.isLane)
        #expect(nodes[1].next == nodes[0])
        #expect(nodes[1].previous == nodes[2])
        nodes[1].next = nil
        #expect(nodes[1].next == nil)
        #expect(nodes[1].tag.executor == executor)
    }

    @Test("tells a lane's activation from a job")
    func lane() {
        let nodes = MadeNodes(count: 2)
        nodes[0].prepare(.lane)
        nodes[0].next = nodes[1]
        #expect(nodes[0].tag.isLane)
        #expect(nodes[0].next == nodes[1])
    }

    @Test("loses its links when it is prepared anew")
    func prepare() {
        let nodes = MadeNodes(count: 2)
        nodes[0].next = nodes[1]
        nodes[0].previous = nodes[1]
        nodes[0].prepare(.job(executor: 1))
        #expect(nodes[0].next == nil)
        #expect(nodes[0].previous == nil)
    }

    @Test("lies where the concurrency library keeps the executor's words of a job")
    func layout() {
        #expect(ConcurrencyRuntime.hasExpectedLayout)
    }
}
