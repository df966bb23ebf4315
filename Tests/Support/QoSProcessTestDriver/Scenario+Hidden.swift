import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport

// Tasks whose record does not show a raise.

extension Scenario {
    /// A child of the background that runs when its root is awaited or raised.
    func runningChildren() async {
        guard let scheduler = QoSProcess.scheduler else { return }
        for child in RunningChild.allCases {
            for urgency in Urgency.allCases {
                for origin in Origin.allCases {
                    let isRaised = await child.isRaised(urgency, origin, on: scheduler, isProcessWide: true)
                    Driver.say("\(child).\(urgency).\(origin)", isRaised)
                }
            }
        }
    }

    /// More tasks wait for items than `HiddenWaits` has entries. Then few do.
    func manyHiddenWaits() async throws {
        try await hiddenWaits(400, "many")
        try await hiddenWaits(8, "few")
    }

    /// Tasks at the background wait for items that do not begin. Others of userInitiated wait for these tasks.
    private func hiddenWaits(_ count: Int, _ name: String) async throws {
        guard let scheduler = QoSProcess.scheduler else { return }
        let queue = scheduler.makeQueue("held", .concurrent)
        try queue.suspend()
        let (begun, ran) = (Tally(), Tally())
        let items = (0..<count).map { _ in WorkItem(level: .background) { ran.add() } }
        for item in items { try queue.async(item) }
        let tasks = items.map { item in
            Origin.scope.start(on: scheduler, isProcessWide: true) {
                begun.add()
                await item.waitUntilFinished()
            }
        }
        while begun.value < count { await Task.yield() }
        await scheduler.becomesIdle(.background)
        let waiters = tasks.map { task in Task.detached(priority: .userInitiated) { await task.value } }
        await scheduler.becomesIdle(.userInitiated)
        HiddenWaits.look()
        Driver.say("\(name).raised", items.count { $0.effectiveLevel == .userInitiated })
        try queue.resume()
        for waiter in waiters { await waiter.value }
        Driver.say("\(name).ran", ran.value)
    }
}
