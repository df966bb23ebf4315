import Testing

@testable import QoSRuntime

@Suite("The word of a serial lane")
struct LaneWordTests {
    /// A word in which activations wait at the ranks.
    private func word(running: Bool = false, _ ranks: Int...) -> LaneWord {
        LaneWord(rawValue: ranks.reduce(running ? 0x80 : 0) { $0 | 1 << UInt8($1) })
    }

    @Test("begins idle")
    func empty() {
        #expect(!LaneWord().isRunning)
        #expect(LaneWord().highestActivation == nil)
    }

    @Test("the highest activation is found, whether the lane runs or not", arguments: 0..<5, [true, false])
    func highest(_ rank: Int, _ running: Bool) {
        #expect(word(running: running, 0, rank).highestActivation == rank)
    }

    @Test("I3 an item needs an activation unless the lane runs or one at least as high waits", arguments: 0..<5)
    func itemAdded(_ rank: Int) {
        #expect(LaneWord().itemAdded(rank: rank) == word(rank))
        #expect(word(running: true).itemAdded(rank: rank) == nil)
        for waiting in 0..<5 {
            #expect(word(waiting).itemAdded(rank: rank) == (waiting >= rank ? nil : word(waiting, rank)))
        }
    }

    @Test("a worker that an activation reaches runs the lane, unless another does; the activation is gone either way")
    func activationTaken() {
        let (first, runs) = word(0, 3).activationTaken(rank: 3)
        #expect(first == word(running: true, 0))
        #expect(runs)
        let (second, runsToo) = first.activationTaken(rank: 0)
        #expect(second == word(running: true))
        #expect(!runsToo)
    }

    @Test("who stops submits an activation for what is left, unless one at least as high waits")
    func runEnded() {
        #expect(word(running: true, 2).runEnded(leaving: nil) == (word(2), nil))
        #expect(word(running: true).runEnded(leaving: 1) == (word(1), 1))
        #expect(word(running: true, 0).runEnded(leaving: 1) == (word(0, 1), 1))
        #expect(word(running: true, 1).runEnded(leaving: 1) == (word(1), nil))
        #expect(word(running: true, 4).runEnded(leaving: 1) == (word(4), nil))
    }

    @Test("who stopped goes on if nobody else runs, even if an activation waits")
    func runResumed() {
        #expect(LaneWord().runResumed() == word(running: true))
        #expect(word(0).runResumed() == word(running: true, 0))
        #expect(word(running: true).runResumed() == nil)
    }

    @Test(
        "in every interleaving nothing is lost, nobody runs twice, no activation is queued twice",
        .tags(.exploration),
        arguments: [
            ([0, 0], 3), ([0, 4], 3), ([4, 0], 2), ([0, 0, 0], 2), ([0, 1, 0], 2), ([1, 0, 2], 2), ([2, 2, 1], 2),
            ([0, 1, 2], 3),
        ])
    func explored(_ ranks: [Int], _ workers: Int) {
        let exploration = Exploration(of: LaneModel(ranks: ranks, runners: workers))
        #expect(exploration.violation == nil)
        #expect(exploration.ends > 0)
        #expect(exploration.states > 100)
    }

    @Test(
        "I4 in every interleaving with looks that own the lane meanwhile, nothing is lost", .tags(.exploration),
        arguments: [([0, 4], 2), ([1, 0], 1), ([2, 2], 2)])
    func exploredWithLooks(_ ranks: [Int], _ workers: Int) {
        let exploration = Exploration(of: LaneModel(ranks: ranks, runners: workers, looks: 1))
        #expect(exploration.violation == nil)
        #expect(exploration.ends > 0)
        #expect(exploration.states > 100)
    }

    @Test("the exploration finds what a forgotten step breaks", .tags(.exploration))
    func explorationFinds() throws {
        // Two items, and a worker that forgot them: nothing will ever run them.
        var forgetful = LaneModel(ranks: [1, 1], runners: 1)
        forgetful.adders = [.done, .done]
        forgetful.arrivals = [1, 1]
        let violation = try #require(Exploration(of: forgetful).violation)
        #expect(violation.contains("no activation at least as high is queued"))
    }
}
