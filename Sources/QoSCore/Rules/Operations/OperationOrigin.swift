/// Where an operation was created, as far as it decides its level (rules O1, O2). A pure value.
package struct OperationOrigin: Sendable, Hashable {
    /// The level of the operation in whose execution it was created: comes before the queue's.
    package var operation: QoSLevel?

    /// What counts when its queue has no level either: the level of the surrounding activity or of another scope that gives one, that of the creating task or
    /// thread, or that of an interactive process's main thread.
    package var fallback: QoSLevel?

    /// An origin that gives no level.
    package init() {}

    /// The origin of an operation that is created now.
    ///
    /// - Parameters:
    ///   - operation: the effective level of the operation in whose execution it happens.
    ///   - activity: the level that the innermost surrounding scope gives, which is an activity for one.
    ///   - creator: the level of the creating task or thread.
    ///   - isInteractiveMain: whether this is the main thread of an interactive process.
    package init(operation: QoSLevel?, activity: QoSLevel?, creator: QoSLevel?, isInteractiveMain: Bool) {
        self.operation = operation
        // The main thread of an interactive process runs at userInteractive, which is not meant for what it starts (O2).
        fallback = activity ?? (isInteractiveMain ? .userInitiated : creator)
    }

    /// The level of an operation without an assigned one, when it is added to a queue (rule O1).
    package func level(inQueueAt queue: QoSLevel?) -> QoSLevel {
        operation ?? queue ?? fallback ?? .default
    }
}
