import QoSCore
import Testing

@Suite("Admission rules")
struct AdmissionRuleTests {
    private func at(_ milliseconds: Int64) -> SchedulerInstant {
        SchedulerInstant(nanoseconds: milliseconds * 1_000_000)
    }

    /// A machine with workers of some classes admitted at time 0, in this order.
    private func machine(cores: Int, running: [QoSClass]) -> AdmissionMachine {
        var machine = AdmissionMachine(cores: cores)
        for qosClass in running {
            #expect(machine.workBecameRunnable(qosClass, at: at(0)).admit == QoSClassSet(qosClass))
        }
        return machine
    }

    @Test("A1 a class gets one worker per request, up to the cores", arguments: [1, 2, 3, 256])
    func width(_ cores: Int) {
        var machine = machine(cores: cores, running: Array(repeating: .utility, count: cores))
        let refused = machine.workBecameRunnable(.utility, at: at(0))
        #expect(refused.admit.isEmpty)
        #expect(machine.table[.utility].isWaiting)
        #expect(machine.table[.utility].running == cores)
        #expect(refused.mustAsk.isEmpty)
    }

    @Test(
        "A3 a class with a width of its own has that many workers, whatever the cores, and goes back to what follows from them"
    )
    func ownWidth() {
        var machine = AdmissionMachine(cores: 4)
        _ = machine.ownWidthChanged(of: .background, to: 3, at: at(0))
        _ = machine.ownWidthChanged(of: .utility, to: 1, at: at(0))
        _ = machine.coresChanged(to: 5, at: at(0))
        for _ in 0..<3 { #expect(machine.workBecameRunnable(.background, at: at(0)).admit == QoSClassSet(.background)) }
        #expect(machine.workBecameRunnable(.background, at: at(0)).admit.isEmpty)
        #expect(machine.workBecameRunnable(.utility, at: at(0)).admit == QoSClassSet(.utility))
        #expect(machine.workBecameRunnable(.utility, at: at(0)).admit.isEmpty)
        // Whoever waits is admitted by the change itself.
        #expect(machine.ownWidthChanged(of: .utility, to: nil, at: at(0)).admit == QoSClassSet(.utility))
        #expect(machine.ownWidthChanged(of: .background, to: nil, at: at(0)).mustAsk == QoSClassSet(.background))
    }

    @Test("A1 a higher class is admitted beside lower ones that fill the cores")
    func higherIsAdmitted() {
        var machine = machine(cores: 2, running: [.default, .default])
        let actions = machine.workBecameRunnable(.userInteractive, at: at(0))
        #expect(actions.admit == QoSClassSet(.userInteractive))
        #expect(actions.mustAsk == QoSClassSet(.default))
    }

    @Test("A1 a lower class is admitted when a higher worker goes idle, the highest waiting class first")
    func freedCore() {
        var machine = machine(
            cores: 2, running: [.userInteractive, .userInteractive, .default, .utility])
        #expect(machine.workBecameRunnable(.default, at: at(0)).admit.isEmpty)
        #expect(machine.workBecameRunnable(.utility, at: at(0)).admit.isEmpty)
        #expect(machine.workerWentIdle(.userInteractive, at: at(1)).admit.isEmpty)
        #expect(machine.workerWentIdle(.userInteractive, at: at(1)).admit == QoSClassSet(.default))
        #expect(machine.workerWentIdle(.default, at: at(1)).admit.isEmpty)
        #expect(machine.workerWentIdle(.default, at: at(1)).admit == QoSClassSet(.utility))
    }

    @Test("A2 every class with work keeps one worker beside saturating higher ones")
    func slot() {
        var machine = machine(
            cores: 1, running: [.userInteractive, .userInitiated, .default, .utility, .background])
        for qosClass in QoSClass.allCases {
            #expect(machine.workBecameRunnable(qosClass, at: at(0)).admit.isEmpty)
            #expect(machine.workerAsked(qosClass, at: at(10)).verdict == .take)
        }
    }

    @Test("A3 a width of 0 pauses the class at the next boundary, a promoted job is exempt")
    func paused() {
        var machine = machine(cores: 2, running: [.background])
        #expect(machine.widthChanged(of: .background, to: 0, at: at(1)).mustAsk == QoSClassSet(.background))
        #expect(machine.workerAsked(.background, at: at(1), isExempt: true).verdict == .take)
        #expect(machine.workerAsked(.background, at: at(1)).verdict == .park)
        #expect(machine.workBecameRunnable(.background, at: at(2)).admit.isEmpty)
        #expect(machine.widthChanged(of: .background, to: .max, at: at(3)).admit == QoSClassSet(.background))
    }

    @Test("A3 background has one worker per two cores", arguments: [(1, 1), (2, 1), (3, 1), (4, 2), (256, 128)])
    func backgroundWidth(_ cores: Int, _ width: Int) {
        #expect(AdmissionMachine(cores: cores).table[.background].limit == width)
    }

    @Test("A4 a covered class names the time at which somebody has to look")
    func deadline() {
        var machine = machine(cores: 1, running: [.userInteractive])
        // 250 ms until background is due; userInteractive covers the core for longer than its warp by then.
        #expect(machine.workBecameRunnable(.background, at: at(0)).lookAgainAt == at(250))
        #expect(machine.ticked(at: at(249)).mustAsk.isEmpty)
        let due = machine.ticked(at: at(250))
        #expect(due.mustAsk == QoSClassSet(.userInteractive))
        #expect(machine.workerAsked(.userInteractive, at: at(251)).verdict == .park)
        #expect(machine.ticked(at: at(251)).lookAgainAt == at(252))
        let over = machine.ticked(at: at(252))
        #expect(over.admit == QoSClassSet(.userInteractive))
        #expect(machine.table[.background].claims.isEmpty)
        #expect(machine.counters.windows == 1)
    }

    @Test("A4 a class between stands aside first, and by the difference of the waits")
    func nearestFirst() {
        var machine = machine(cores: 1, running: [.default])
        // 250 − 75 ms against default, and default has no warp left by then.
        #expect(machine.workBecameRunnable(.background, at: at(0)).lookAgainAt == at(175))
    }

    @Test(
        "A4 a higher class that leaves a core now and then is not asked for one: those between stand aside",
        arguments: [
            QoSClass.userInteractive, .userInitiated,
        ])
    func leavesCores(_ high: QoSClass) {
        var machine = machine(cores: 1, running: [high, .default])
        _ = machine.workBecameRunnable(.background, at: at(0))
        // The high class has the core for 6 of each 8 ms, default takes what it leaves.
        for round in 0..<60 as Range<Int64> {
            _ = machine.workerWentIdle(high, at: at(8 * round + 6))
            _ = machine.workBecameRunnable(high, at: at(8 * round + 8))
        }
        #expect(machine.table.standsAside(.default))
        #expect(!machine.table.standsAside(high))
    }

    @Test("A4 while a class stands aside for one class, the clocks of the others against it stand still")
    func asideIsNotLeft() {
        var machine = machine(cores: 1, running: [.userInteractive, .utility])
        _ = machine.ticked(at: at(100))
        _ = machine.workBecameRunnable(.background, at: at(100))
        // From 150 ms on utility has its window of 1 ms.
        _ = machine.ticked(at: at(150))
        #expect(machine.table.standsAside(.userInteractive))
        #expect(machine.workerAsked(.userInteractive, at: at(150)).verdict == .park)
        _ = machine.ticked(at: at(151))
        #expect(machine.table[.background].behind[QoSClass.userInteractive.rank].covered == 50_000_000)
        #expect(machine.table[.background].behind[QoSClass.userInteractive.rank].left == 0)
    }

    @Test("A4 a higher class that covers the cores only since a short while keeps them for its warp")
    func warp() {
        var machine = machine(cores: 1, running: [.utility, .background])
        // utility covers the core from 0 on; background may wait 100 ms for it, 250 for userInteractive.
        _ = machine.ticked(at: at(99))
        _ = machine.workBecameRunnable(.userInteractive, at: at(99))
        _ = machine.ticked(at: at(100))
        #expect(machine.table.standsAside(.utility))
        _ = machine.ticked(at: at(246))
        _ = machine.workerWentIdle(.userInteractive, at: at(246))
        _ = machine.workBecameRunnable(.userInteractive, at: at(246))
        // Due at 250; the burst that began at 246 holds on until 254.
        _ = machine.ticked(at: at(253))
        #expect(!machine.table.standsAside(.userInteractive))
        _ = machine.ticked(at: at(254))
        #expect(machine.table.standsAside(.userInteractive))
    }

    @Test("A4 time with a core, a quantum long, starts the wait afresh")
    func servedStartsAfresh() {
        var machine = machine(cores: 1, running: [.userInteractive, .default])
        _ = machine.workerWentIdle(.userInteractive, at: at(50))
        // One millisecond is less than the quantum of default: the 50 ms still count.
        #expect(machine.workBecameRunnable(.userInteractive, at: at(51)).lookAgainAt == at(76))
        _ = machine.workerWentIdle(.userInteractive, at: at(60))
        #expect(machine.workBecameRunnable(.userInteractive, at: at(61)).lookAgainAt == at(136))
    }

    @Test("A5 a surplus worker goes on during the grace and parks after it; the last one of its class stays")
    func grace() {
        var machine = machine(cores: 2, running: [.default, .default, .userInteractive])
        #expect(machine.workerAsked(.default, at: at(1)).verdict == .take)
        let parked = machine.workerAsked(.default, at: at(2))
        #expect(parked.verdict == .park)
        #expect(parked.actions.mustAsk.isEmpty)
        #expect(machine.workerAsked(.default, at: at(3)).verdict == .take)
        #expect(machine.workerWentIdle(.userInteractive, at: at(4)).admit == QoSClassSet(.default))
    }

    @Test("A blocked worker leaves its place to another and is counted again at once when it returns")
    func blocking() {
        var machine = machine(cores: 1, running: [.default])
        _ = machine.workBecameRunnable(.default, at: at(0))
        #expect(machine.workerBlocked(.default, at: at(1)).admit == QoSClassSet(.default))
        let back = machine.workerUnblocked(.default, at: at(2))
        #expect(machine.table[.default].running == 2)
        #expect(back.mustAsk == QoSClassSet(.default))
        #expect(machine.workerAsked(.default, at: at(2)).verdict == .park)
    }

    @Test("A raised worker is counted in the class it was raised to, until it returns")
    func moving() {
        var machine = machine(cores: 1, running: [.background, .default])
        let raised = machine.workerMoved(from: .background, to: .userInitiated, at: at(1))
        #expect(machine.table[.userInitiated].running == 1)
        #expect(!machine.table[.background].hasWork)
        #expect(raised.lookAgainAt == at(1).advanced(byNanoseconds: 37_500_000))
        _ = machine.workerMoved(from: .userInitiated, to: .background, at: at(2))
        #expect(machine.table[.background].running == 1)
    }

    @Test("Fewer cores make the surplus ask, more cores admit who waits")
    func coresChange() {
        var machine = machine(cores: 4, running: Array(repeating: .default, count: 4))
        #expect(machine.coresChanged(to: 1, at: at(1)).mustAsk == QoSClassSet(.default))
        for left in [3, 2, 1] {
            #expect(machine.workerAsked(.default, at: at(1)).verdict == .park)
            #expect(machine.table[.default].running == left)
        }
        #expect(machine.workerAsked(.default, at: at(1)).verdict == .take)
        #expect(machine.coresChanged(to: 2, at: at(2)).admit == QoSClassSet(.default))
        #expect(machine.coresChanged(to: 0, at: at(3)).admit.isEmpty)
        #expect(machine.table.cores == 1)
    }

    @Test("Without work nobody has to look again, whatever the time")
    func idle() {
        var machine = machine(cores: 2, running: [.userInteractive, .background])
        _ = machine.workerWentIdle(.userInteractive, at: at(1))
        #expect(machine.workerWentIdle(.background, at: at(1)) == AdmissionActions())
        #expect(machine.ticked(at: at(1_000_000)) == AdmissionActions())
    }

    @Test("A time before that of the last event counts as the same time")
    func timeDoesNotRunBackwards() {
        var machine = machine(cores: 1, running: [.userInteractive, .background])
        _ = machine.ticked(at: at(100))
        #expect(machine.ticked(at: at(40)).lookAgainAt == at(250))
        #expect(machine.now == at(100))
    }

    @Test("A7 a held class is not admitted, its workers park, and it is admitted when it is let go")
    func heldBack() {
        var machine = machine(cores: 2, running: [.userInitiated, .utility])
        let held = machine.heldBackChanged(to: ProcessorBudget.low, at: at(1))
        #expect(held.mustAsk == QoSClassSet(.utility))
        #expect(machine.workerAsked(.utility, at: at(2)).verdict == .park)
        let refused = machine.workBecameRunnable(.background, at: at(3))
        #expect(refused.admit.isEmpty)
        #expect(refused.waiting.members == [.utility, .background])
        #expect(machine.table.heldBack == ProcessorBudget.low)
        #expect(machine.heldBackChanged(to: [], at: at(4)).admit.members == [.utility, .background])
    }

    @Test("A4 A7 a held class waits behind higher ones as well, and claims a core when it is let go, not before")
    func heldBackWaits() {
        var machine = machine(cores: 1, running: [.userInteractive])
        #expect(machine.workBecameRunnable(.background, at: at(0)).lookAgainAt == at(250))
        #expect(machine.heldBackChanged(to: ProcessorBudget.low, at: at(10)).lookAgainAt == nil)
        #expect(machine.workerAsked(.background, at: at(10)).verdict == .park)
        #expect(machine.ticked(at: at(300)) == AdmissionActions(waiting: QoSClassSet(.background)))
        let due = machine.heldBackChanged(to: [], at: at(310))
        #expect(due.admit == QoSClassSet(.background))
        #expect(due.mustAsk == QoSClassSet(.userInteractive))
        #expect(machine.counters.windows == 1)
    }

    @Test("A4 A7 a core that is left while the class is held does not end its wait")
    func heldBackIsNotServed() {
        var machine = machine(cores: 1, running: [.userInteractive])
        _ = machine.workBecameRunnable(.background, at: at(0))
        _ = machine.heldBackChanged(to: ProcessorBudget.low, at: at(200))
        #expect(machine.workerAsked(.background, at: at(200)).verdict == .park)
        _ = machine.workerWentIdle(.userInteractive, at: at(210))
        _ = machine.workBecameRunnable(.userInteractive, at: at(230))
        #expect(machine.heldBackChanged(to: [], at: at(240)).lookAgainAt == at(270))
    }

    @Test("A7 a worker with a promoted job goes on although its class is held")
    func heldBackExempt() {
        var machine = machine(cores: 2, running: [.background])
        _ = machine.heldBackChanged(to: ProcessorBudget.low, at: at(1))
        #expect(machine.workerAsked(.background, at: at(2), isExempt: true).verdict == .take)
        #expect(machine.workBecameRunnable(.userInitiated, at: at(3)).admit == QoSClassSet(.userInitiated))
    }
}
