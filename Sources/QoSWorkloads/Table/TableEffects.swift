package import QoSCore

/// The changes of an event of a ``WorkloadTable`` that its driver or a test may act on.
package struct TableEffects: Sendable, Hashable {
    /// A level that rose.
    package struct Raise: Sendable, Hashable {
        /// The item.
        package let item: WorkloadItemID
        /// The level before.
        package let old: QoSLevel
        /// The level now.
        package let new: QoSLevel
        /// Whether it runs, so that its host must raise its task (rule O8).
        package let isRunning: Bool
    }

    /// The raised items, waiting and running.
    package var raised: [Raise] = []
    /// The running items that are asked to end.
    package var cancelled: [WorkloadItemID] = []
    /// The items that ended.
    package var ended: [WorkloadItemID] = []
    /// Whether an item became ready, or a place became free.
    package var hasReady = false

    /// Whether an item waits for a time, or for files, that no host knows yet.
    package var hasScheduled = false

    /// No effects.
    package init() {}

    /// Whether a host should look at the store.
    package var concernsHosts: Bool {
        hasReady || hasScheduled || !ended.isEmpty || !cancelled.isEmpty || raised.contains { $0.isRunning }
    }
}
