import Testing

@testable import QoSRuntime

@Suite("The phases of a scheduler")
struct SchedulerPhaseTests {
    private let leave = SchedulerPhase.leaveGrace

    @Test("running, it waits, whatever the workers do", arguments: [true, false], [0, 3])
    func running(_ isQuiet: Bool, _ workersLeft: Int) {
        var phase = SchedulerPhase.running
        #expect(phase.looked(at: 5, isQuiet: isQuiet, workersLeft: workersLeft) == .wait)
        #expect(phase == .running)
    }

    @Test("draining, it closes when nothing is left to run, or when the time is up, not before")
    func draining() {
        var phase = SchedulerPhase.running
        phase.shutdownRequested(deadline: 100)
        #expect(phase == .draining(deadline: 100))
        #expect(phase.looked(at: 99, isQuiet: false, workersLeft: 1) == .waitUntil(100))
        var quiet = phase
        #expect(quiet.looked(at: 99, isQuiet: true, workersLeft: 1) == .close(lookAgainAt: 99 + leave))
        #expect(quiet == .closed(deadline: 99 + leave))
        #expect(phase.looked(at: 100, isQuiet: false, workersLeft: 1) == .close(lookAgainAt: 100 + leave))
        #expect(phase == .closed(deadline: 100 + leave))
    }

    @Test("of several requests the shortest counts, as long as it drains")
    func severalRequests() {
        var phase = SchedulerPhase.running
        phase.shutdownRequested(deadline: 100)
        phase.shutdownRequested(deadline: 300)
        #expect(phase == .draining(deadline: 100))
        phase.shutdownRequested(deadline: 50)
        #expect(phase == .draining(deadline: 50))
        _ = phase.looked(at: 60, isQuiet: true, workersLeft: 0)
        phase.shutdownRequested(deadline: 10)
        #expect(phase == .closed(deadline: 60 + leave))
    }

    @Test("closed, it ends when the last worker has left, or when they had their time")
    func closed() {
        let phase = SchedulerPhase.closed(deadline: 100)
        var waiting = phase
        #expect(waiting.looked(at: 99, isQuiet: true, workersLeft: 1) == .waitUntil(100))
        #expect(waiting == phase)
        var left = phase
        #expect(left.looked(at: 1, isQuiet: false, workersLeft: 0) == .end)
        #expect(left == .ended)
        var late = phase
        #expect(late.looked(at: 100, isQuiet: false, workersLeft: 2) == .end)
        #expect(late == .ended)
    }

    @Test("ended, it stays so")
    func ended() {
        var phase = SchedulerPhase.ended
        phase.shutdownRequested(deadline: 1)
        #expect(phase.looked(at: .max, isQuiet: true, workersLeft: 0) == .wait)
        #expect(phase == .ended)
    }

    @Test("a deadline at the end of time is never reached by an overflow")
    func farDeadline() {
        var phase = SchedulerPhase.running
        phase.shutdownRequested(deadline: .max)
        #expect(phase.looked(at: .max - 1, isQuiet: false, workersLeft: 1) == .waitUntil(.max))
    }
}
