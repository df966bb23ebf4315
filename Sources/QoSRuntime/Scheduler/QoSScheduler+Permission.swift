public import QoSCore

extension QoSScheduler {
    /// The allowances that a ``SystemMonitor`` has set for the scheduler; without limits if none governs it. Any
    /// thread.
    public var decision: GovernorDecision { core.governed.value }

    /// Suspends the calling task until work of a class may run (rules S2, S3).
    ///
    /// ```swift
    /// for folder in folders {
    ///     try await scheduler.waitUntilPermitted(at: .utility)
    ///     try await prefetch(folder)
    /// }
    /// ```
    ///
    /// A task that is raised meanwhile waits for the permission of the higher class. A shutdown lets the task continue.
    /// `decision.deferralReason(for:isDiscretionary:)` gives the reason of the wait. Some 100 ns if the work may run.
    ///
    /// - Parameters:
    ///   - qosClass: the class of the work.
    ///   - isDiscretionary: whether the work can wait: prefetching, clean-up, remote copies.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    public nonisolated(nonsending) func waitUntilPermitted(
        at qosClass: QoSClass, isDiscretionary: Bool = true
    ) async throws(CancellationError) {
        let begunAt = QoS.currentLevel
        try await waitUntil { decision in
            // Only a raise counts: the work may be lower than the task that asks.
            let raised = QoS.currentLevel.flatMap { level in begunAt.map { level > $0 } == true ? level.qosClass : nil }
            return decision.permits(max(qosClass, raised ?? qosClass), isDiscretionary: isDiscretionary)
        }
    }

    /// Suspends the calling task until the decision in force satisfies a test. The test is repeated when the decision
    /// changes, and when the task is raised.
    package nonisolated(nonsending) func waitUntil(
        _ isSatisfied: (GovernorDecision) -> Bool
    ) async throws(CancellationError) {
        if isSatisfied(core.governed.value) { return }
        let subscription = Subscription(core.governed.subscription())
        await withRaiseHandler(for: subscription) {
            for await decision in subscription.values where isSatisfied(decision) { return }
        } raised: { subscription, _ in
            subscription.again()
        }
        // The sequence also ends with the scheduler.
        if Task.isCancelled, !isSatisfied(core.governed.value) { throw CancellationError() }
    }
}

/// The changes of a decision for one task.
private final class Subscription: Sendable {
    let values: AsyncStream<GovernorDecision>
    let again: @Sendable () -> Void

    init(_ subscription: (values: AsyncStream<GovernorDecision>, again: @Sendable () -> Void)) {
        (values, again) = subscription
    }
}
