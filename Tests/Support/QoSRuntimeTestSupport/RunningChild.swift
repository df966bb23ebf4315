package import QoSRuntime

/// A child that runs at the background while its parent waits for it. The record of both is userInitiated.
package enum RunningChild: String, CaseIterable, Sendable {
    case ofGroup, ofDiscardingGroup, ofGroupChild, ofAsyncLet

    /// For how long the child runs if it is not raised. The test fails then.
    private static var patience: Duration { .seconds(60) }

    /// Begins a child on a scheduler with one background worker, and then needs its root at userInitiated.
    ///
    /// - Returns: whether the child's worker was raised.
    package func isRaised(
        _ urgency: Urgency, _ origin: Origin, on scheduler: QoSScheduler, isProcessWide: Bool
    ) async -> Bool {
        let (begun, isOver) = (Gate(), Gate())
        let root = origin.start(on: scheduler, isProcessWide: isProcessWide) {
            await run {
                begun.open()
                isOver.blockThread()
            }
        }
        await begun.passed()
        // From here on: on a busy machine the worker of background may be late, and that is no raise that fails.
        let guardian = Task.detached(priority: .userInteractive) {
            try? await Task.sleep(for: Self.patience)
            isOver.open()
        }
        let before = scheduler.snapshot.runningPromoted
        let high = isProcessWide ? nil : scheduler.executor(for: .userInitiated)
        let waiter = Task.detached(executorPreference: high, priority: .userInitiated) {
            if urgency == .awaited { await root.value } else { scheduler.raise(root, to: .userInitiated) }
        }
        while !isOver.isOpen, scheduler.snapshot.runningPromoted == before { await Task.yield() }
        let isRaised = scheduler.snapshot.runningPromoted > before
        isOver.open()
        guardian.cancel()
        await waiter.value
        await root.value
        return isRaised
    }

    /// Runs a body in the child, and waits for the child.
    package func run(_ body: @escaping @Sendable () -> Void) async {
        switch self {
        case .ofGroup: await withTaskGroup { $0.addTask { body() } }
        case .ofDiscardingGroup: await withDiscardingTaskGroup { $0.addTask { body() } }
        case .ofGroupChild: await withTaskGroup { $0.addTask { await Self.ofGroup.run(body) } }
        case .ofAsyncLet:
            async let child: Void = Self.ofGroup.run(body)
            await child
        }
    }
}
