import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The driver of admission", .tags(.stress), .timeLimit(.minutes(5)))
struct AdmissionTests {
    /// An event, and how many workers of utility and of userInitiated it adds.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var utility = 0
        var userInitiated = 0
        let event: @Sendable (Admission) -> Void
    }

    static let cases = [
        Case(testDescription: "high work arrives", userInitiated: 1) { _ = $0.workBecameRunnable(rank: 3) },
        Case(testDescription: "low work arrives", utility: 1) { _ = $0.workBecameRunnable(rank: 1) },
        Case(testDescription: "a worker goes idle", utility: -1) { _ = $0.workerWentIdle(rank: 1) },
        Case(testDescription: "a worker asks") { #expect($0.workerAsked(rank: 3).answer == .goesOn) },
        Case(testDescription: "a low worker asks at a checkpoint") {
            #expect($0.workerAsked(rank: 1, waits: false).answer == .goesOn)
        },
        Case(testDescription: "a worker is blocked", utility: -1) { _ = $0.workerBlocked(rank: 1) },
        Case(testDescription: "a worker runs on", utility: 1) { _ = $0.workerUnblocked(rank: 1) },
        Case(testDescription: "a worker is raised", utility: -1, userInitiated: 1) {
            _ = $0.workerMoved(from: .utility, to: .userInitiated)
        },
        Case(testDescription: "a fence goes up") {
            #expect($0.fenceRaised(upTo: .default, holder: .utility).fence == nil)
        },
        Case(testDescription: "the processors change") { _ = $0.coresChanged(to: 2) },
        Case(testDescription: "a limit is set") { _ = $0.widthLimitChanged(rank: 1, to: 1) },
        Case(testDescription: "the budget holds a class") { _ = $0.heldBackChanged(to: [], waits: false) },
        Case(testDescription: "time passes") { _ = $0.ticked() },
    ]

    @Test(
        "no thread waits for the lock but a low worker between two jobs, and what a thread did is counted later",
        arguments: cases)
    func neverWaits(_ tried: Case) {
        let admission = Admission(processors: 8, parameters: SchedulingParameters())
        for rank in [1, 1, 3, 3] { _ = admission.workerUnblocked(rank: rank) }
        // Where the event waits for the lock, it waits for itself; bounded by the suite's time limit.
        admission.state.withLock { _ in tried.event(admission) }
        _ = admission.ticked()
        #expect(admission.running(rank: 1) == 2 + tried.utility)
        #expect(admission.running(rank: 3) == 2 + tried.userInitiated)
    }

    @Test("a holder that stays away makes the workers of all classes ask and wait, until an event gets through")
    func overdue() {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        admission.state.withLock { _ in
            for _ in 0..<100 { _ = admission.ticked() }
            #expect(QoSClass.allCases.allSatisfy { admission.mustAsk(rank: $0.rank) })
            #expect(admission.isOverdue)
        }
        _ = admission.ticked()
        #expect(QoSClass.allCases.allSatisfy { !admission.mustAsk(rank: $0.rank) })
        #expect(!admission.isOverdue)
    }

    @Test("the event of any thread that gets through ends what the workers of all classes were asked for")
    func overdueNoMore() {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        admission.state.withLock { _ in
            for _ in 0..<100 { _ = admission.ticked() }
            #expect(admission.isOverdue)
        }
        // After this event nothing makes the loop come again.
        _ = admission.workerUnblocked(rank: 1)
        #expect(QoSClass.allCases.allSatisfy { !admission.mustAsk(rank: $0.rank) })
        #expect(!admission.isOverdue)
        #expect(admission.nextLook == nil)
    }

    @Test("a loop that finds the lock taken looks again after a pause, and not at once")
    func looksAgainLater() {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        let pause: UInt64 = 500_000
        admission.state.withLock { _ in
            // The time of each look has passed when the loop comes, as it has for the loop's own timer.
            for _ in 0..<3 {
                if let time = admission.nextLook { while MonotonicClock.nanoseconds() < time {} }
                let before = MonotonicClock.nanoseconds()
                _ = admission.ticked()
                let after = MonotonicClock.nanoseconds()
                let next = admission.nextLook ?? 0
                #expect(next >= before + pause && next <= after + pause)
            }
        }
    }

    @Test("a fence that is lifted while the lock is taken is lifted by the next event")
    func fenceLiftedMeanwhile() throws {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        let fence = try #require(admission.fenceRaised(upTo: .default, holder: .utility).fence)
        admission.state.withLock { _ in _ = admission.fenceLifted(fence) }
        _ = admission.ticked()
        #expect(admission.counters.fencesLifted == 1)
        #expect(admission.state.withLock { $0.machine.raisedFences } == 0)
    }

    @Test("more notes than twelve bits count are all counted")
    func manyNotes() {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        admission.state.withLock { _ in
            for _ in 0..<10_000 { _ = admission.workerUnblocked(rank: 4) }
            for _ in 0..<4_999 { _ = admission.workerWentIdle(rank: 4) }
        }
        _ = admission.ticked()
        #expect(admission.running(rank: 4) == 5_001)
    }

    @Test("a limit that is set while the lock is taken takes effect, and is told once with its class")
    func limitSetMeanwhile() {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        _ = admission.workerUnblocked(rank: 1)
        admission.state.withLock { _ in _ = admission.widthLimitChanged(rank: 1, to: 0) }
        #expect(admission.widthLimit(rank: 1) == 0)
        _ = admission.ticked()
        #expect(admission.takeSettledWidths().isEmpty)
        #expect(admission.mustAsk(rank: 1))
        _ = admission.workerWentIdle(rank: 1)
        #expect(admission.takeSettledWidths().map(\.qosClass) == [.utility])
        #expect(admission.takeSettledWidths().isEmpty)
    }

    /// Lets the admitted workers come, find nothing, and go; and those that are admitted by that.
    private static func comeAndGo(_ admitted: AdmittedWorkers, _ admission: Admission) {
        var admitted = admitted
        while let qosClass = admitted.popHighest() { admitted.add(admission.workerWentIdle(rank: qosClass.rank)) }
    }

    @Test("a class that is admitted by a note and by the event that takes it is woken twice, as it is counted twice")
    func admittedTwice() {
        let admission = Admission(processors: 4, parameters: SchedulingParameters())
        admission.state.withLock { _ in _ = admission.workBecameRunnable(rank: 1) }
        #expect(admission.workBecameRunnable(rank: 1).count(of: .utility) == 2)
        #expect(admission.running(rank: 1) == 2)
    }

    @Test("workers to wake are counted by class and taken from the highest class to the lowest")
    func admittedWorkers() {
        var admitted = AdmittedWorkers(QoSClassSet([.init(.background), .init(.userInteractive)]))
        for _ in 0..<3 { admitted.add(AdmittedWorkers(.default)) }
        admitted.add(AdmittedWorkers(.background))
        #expect(QoSClass.allCases.map { admitted.count(of: $0) } == [2, 0, 3, 0, 1])
        var taken: [QoSClass] = []
        while let qosClass = admitted.popHighest() { taken.append(qosClass) }
        #expect(taken == [.userInteractive, .default, .default, .default, .background, .background])
        #expect(admitted.isEmpty && admitted == AdmittedWorkers())
    }

    @Test("counts every worker once, though those of high classes leave notes instead of waiting for the lock")
    func notes() throws {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        let threads = try (0..<6).map { number in
            try RunningThread(name: "admission-\(number)") {
                let own = number % QoSClass.allCases.count
                for _ in 0..<5_000 {
                    // Each admission stands for a worker that comes, finds nothing, and goes.
                    Self.comeAndGo(admission.workBecameRunnable(rank: own), admission)
                }
            }
        }
        for thread in threads { try thread.join() }
        // An event looks for notes that are left.
        Self.comeAndGo(admission.ticked(), admission)
        for qosClass in QoSClass.allCases { #expect(admission.running(rank: qosClass.rank) == 0) }
    }
}
