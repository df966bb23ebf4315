import Testing

@testable import QoSCore

@Suite("Target queues")
struct TargetChainTests {
    private func cycle(from queue: String, to target: String, in targets: [String: String]) -> [String]? {
        TargetChain.cycle(from: queue, to: target) { targets[$0] }
    }

    @Test("B3 chains are allowed")
    func chains() {
        #expect(cycle(from: "a", to: "b", in: [:]) == nil)
        #expect(cycle(from: "a", to: "b", in: ["b": "c", "c": "d"]) == nil)
        #expect(cycle(from: "a", to: "c", in: ["a": "b", "b": "c"]) == nil)
    }

    @Test("B3 a cycle is named from the queue to itself")
    func cycles() {
        #expect(cycle(from: "a", to: "a", in: [:]) == ["a", "a"])
        #expect(cycle(from: "a", to: "b", in: ["b": "a"]) == ["a", "b", "a"])
        #expect(cycle(from: "a", to: "b", in: ["b": "c", "c": "a"]) == ["a", "b", "c", "a"])
    }
}
