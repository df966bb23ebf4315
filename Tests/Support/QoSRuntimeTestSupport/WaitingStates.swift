internal import QoSCore
internal import QoSKernel
package import QoSRuntime

/// The way in which work of a higher class shows that it needs a task.
package enum Urgency: String, CaseIterable, Sendable {
    case awaited, raised
}

extension WaitingState {
    /// For how long the low class's worker is kept: a task that was not promoted then runs there, and the test fails.
    private static var patience: Duration { .seconds(60) }

    /// Brings a task of the background into this state on a real scheduler with one background worker, and says where
    /// it goes on once something of userInitiated needs it: the name of the thread.
    package func threadOfPromoted(
        _ urgency: Urgency, on scheduler: QoSScheduler, isProcessWide: Bool
    ) async -> String {
        let (busy, release) = (Gate(), Gate())
        let stage = WaitingStage(
            low: isProcessWide ? nil : scheduler.executor(for: .background),
            high: isProcessWide ? nil : scheduler.executor(for: .userInitiated),
            serial: scheduler.makeSerialExecutor(),
            hog: {
                busy.open()
                release.blockThread()
            },
            hogRuns: { busy.isOpen },
            report: { (try? LinuxSchedulingCalls().name(of: .current)) ?? "unknown" })
        let guardian = Task.detached(priority: .userInteractive) {
            try? await Task.sleep(for: Self.patience)
            release.open()
        }
        let waiting = start(on: stage)
        await busy.passed()
        waiting.resume()
        // From outside it comes into the injection queue first, out of which the loop takes it.
        while !release.isOpen,
            !scheduler.snapshot.pools.contains(where: { $0.qosClass == .background && $0.queued > 0 })
        {
            await Task.yield()
        }
        if urgency == .raised { scheduler.raise(waiting.task, to: .userInitiated) }
        let name = urgency == .raised ? await waiting.task.value : await stage.waiter(for: waiting.task).value
        release.open()
        guardian.cancel()
        return name
    }
}
