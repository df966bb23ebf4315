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

    /// Background tasks call the main actor while it is busy. A request awaits the last one of them.
    func raisedOnMainActor() async {
        guard let scheduler = QoSProcess.scheduler else { return }
        let (busy, isOver, raised) = (Gate(), Gate(), Gate())
        let order = Collected<Int>()
        let hog = Task { @MainActor in
            busy.open()
            isOver.blockThread()
        }
        await busy.passed()
        let calls = 8
        let tasks = (0..<calls).map { number in
            Task.detached(priority: .background) {
                await withTaskPriorityEscalationHandler {
                    await MainActor.run { order.append(number) }
                } onPriorityEscalated: { _, _ in
                    raised.open()
                }
            }
        }
        // Until all have called: the pool is empty then, and no call has returned.
        while scheduler.snapshot.pools.contains(where: {
            $0.qosClass == .background && ($0.jobsRun < UInt64(calls) || $0.queued > 0 || $0.running > 0)
        }) {
            await Task.yield()
        }
        let waiter = Task.detached(priority: .userInitiated) { await tasks[calls - 1].value }
        await raised.passed()
        // The main thread looks for raised calls once in a millisecond.
        try? await Task.sleep(for: .milliseconds(2))
        isOver.open()
        await hog.value
        await waiter.value
        for task in tasks { await task.value }
        Driver.say("first", order.all.first ?? -1)
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
