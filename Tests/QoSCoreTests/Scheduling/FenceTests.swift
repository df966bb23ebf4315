import QoSCore
import QoSTesting
import Testing

@Suite("Fences")
struct FenceTests {
    private func at(_ milliseconds: Int64) -> SchedulerInstant {
        SchedulerInstant(nanoseconds: milliseconds * 1_000_000)
    }

    private func machine(cores: Int, running: [QoSClass]) -> AdmissionMachine {
        var machine = AdmissionMachine(cores: cores)
        for qosClass in running { _ = machine.workBecameRunnable(qosClass, at: at(0)) }
        return machine
    }

    @Test("A6 classes up to the ceiling park, higher ones and the holder go on, until the fence is lifted")
    func raisedAndLifted() throws {
        var machine = machine(cores: 2, running: [.background, .default, .userInitiated, .userInteractive])
        let raised = machine.fenceRaised(upTo: .userInitiated, holder: .background, at: at(1))
        let fence = try #require(raised.fence)
        #expect(raised.actions.mustAsk.members == [.userInitiated, .default, .background])
        #expect(machine.workerAsked(.default, at: at(2)).verdict == .park)
        #expect(machine.workerAsked(.userInitiated, at: at(2)).verdict == .park)
        #expect(machine.workerAsked(.background, at: at(2), isExempt: true).verdict == .take)
        #expect(machine.workerAsked(.userInteractive, at: at(2)).verdict == .take)
        let lifted = machine.fenceLifted(fence, at: at(3))
        #expect(lifted.wasUp)
        #expect(lifted.actions.admit.members == [.userInitiated, .default])
    }

    @Test("A6 a fence can be lifted once")
    func liftedTwice() throws {
        var machine = machine(cores: 2, running: [.default])
        let fence = try #require(machine.fenceRaised(upTo: .default, holder: nil, at: at(1)).fence)
        #expect(machine.fenceLifted(fence, at: at(2)).wasUp)
        #expect(!machine.fenceLifted(fence, at: at(3)).wasUp)
        let next = try #require(machine.fenceRaised(upTo: .default, holder: nil, at: at(4)).fence)
        #expect(!machine.fenceLifted(fence, at: at(5)).wasUp)
        #expect(machine.raisedFences == 1)
        #expect(machine.fenceLifted(next, at: at(5)).wasUp)
        #expect(machine.counters.fencesLifted == 2)
    }

    @Test("A6 after 250 ms half of the cores are free again beside the holder", arguments: [(1, 1), (2, 1), (8, 4)])
    func half(_ cores: Int, _ half: Int) throws {
        var machine = machine(cores: cores, running: [.utility, .default])
        let raised = machine.fenceRaised(upTo: .default, holder: .utility, at: at(0))
        let fence = try #require(raised.fence)
        #expect(machine.workerAsked(.default, at: at(1)).verdict == .park)
        #expect(raised.actions.lookAgainAt == at(250))
        #expect(machine.ticked(at: at(249)).admit.isEmpty)
        #expect(machine.ticked(at: at(250)).admit == QoSClassSet(.default))
        #expect(machine.table[.default].limit == half)
        #expect(machine.table[.utility].limit == min(cores, half + 1))
        #expect(machine.counters.fencesHalved == 1)
        #expect(machine.fenceLifted(fence, at: at(300)).wasUp)
        #expect(machine.table[.default].limit == cores)
    }

    @Test("A6 nested fences count: the last one frees the classes")
    func nested() throws {
        var machine = machine(cores: 2, running: [.utility])
        let outer = try #require(machine.fenceRaised(upTo: .default, holder: nil, at: at(0)).fence)
        let inner = try #require(machine.fenceRaised(upTo: .utility, holder: nil, at: at(100)).fence)
        #expect(machine.workerAsked(.utility, at: at(100)).verdict == .park)
        #expect(machine.fenceLifted(outer, at: at(150)).actions.admit.isEmpty)
        #expect(machine.table[.default].limit == 2)
        #expect(machine.fenceLifted(inner, at: at(160)).actions.admit == QoSClassSet(.utility))
        #expect(machine.raisedFences == 0)
    }

    @Test("A6 a fence that finds the table full is refused and counted, and the others stay")
    func full() throws {
        var machine = machine(cores: 2, running: [.utility])
        var fences: [FenceID] = []
        while let fence = machine.fenceRaised(upTo: .default, holder: nil, at: at(0)).fence { fences.append(fence) }
        #expect(fences.count == 32)
        #expect(machine.counters.fencesRefused == 1)
        #expect(Set(fences).count == fences.count)
        var random = SeededGenerator(seed: 11)
        for fence in fences.shuffled(using: &random) { #expect(machine.fenceLifted(fence, at: at(1)).wasUp) }
        #expect(machine.raisedFences == 0)
        #expect(machine.table[.utility].limit == 2)
    }

}
