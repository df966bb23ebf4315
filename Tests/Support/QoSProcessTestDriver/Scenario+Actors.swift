import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport

/// An actor with the executor that actors have.
@globalActor
private actor SharedActor {
    static let shared = SharedActor()

    @SharedActor static var calls = 0

    @SharedActor static func call() { calls += 1 }
}

extension Scenario {
    /// An actor's turn waits behind background work that keeps the one worker of its class, and a request calls the
    /// actor.
    func busyActor() async {
        let (busy, isOver) = (Gate(), Gate())
        let hog = Task.detached(priority: .background) {
            busy.open()
            isOver.blockThread()
        }
        await busy.passed()
        // Isolated to the actor, it is queued there from its start, and the actor's turn in the class.
        let waiting = Task.detached(priority: .background) { @SharedActor in SharedActor.call() }
        // Only a promotion gets the turn past the hog.
        await Task.detached(priority: .userInitiated) { await SharedActor.call() }.value
        Driver.say("moved", QoSProcess.scheduler.map { $0.snapshot.tasksMoved > 0 } ?? false)
        Driver.say("sees", QoSProcess.scheduler?.snapshot.promotesWaitingActors ?? false)
        isOver.open()
        await hog.value
        await waiting.value
        Driver.say("calls", await SharedActor.calls)
    }

    /// A task of the background in each state in which it can be queued, awaited and raised.
    func waitingStates() async {
        guard let scheduler = QoSProcess.scheduler else { return }
        for state in WaitingState.allCases {
            for urgency in Urgency.allCases {
                let name = await state.threadOfPromoted(urgency, on: scheduler, isProcessWide: true)
                Driver.say("\(state).\(urgency)", name)
            }
        }
    }
}
