/// The place of an operation's creation, as far as it decides the level (rules O1, O2). A pure value.
package struct OperationOrigin: Sendable, Hashable {
    /// The level of the operation that created it. It comes before the queue's.
    package var operation: QoSLevel?

    /// The level that counts if its queue has none either. It is that of the surrounding activity or other scope, that
    /// of the creating task or thread, or that of an interactive process's main thread.
    package var fallback: QoSLevel?

    /// Makes an origin without a level.
    package init() {}

    /// Makes the origin of an operation that is created now.
    ///
    /// - Parameters:
    ///   - operation: the effective level of the creating operation.
    ///   - activity: the level of the innermost surrounding scope, for example an activity.
    ///   - creator: the level of the creating task or thread.
    ///   - isInteractiveMain: whether this is the main thread of an interactive process.
    package init(operation: QoSLevel?, activity: QoSLevel?, creator: QoSLevel?, isInteractiveMain: Bool) {
        self.operation = operation
        // The main thread of an interactive process runs at userInteractive, which is not meant for what it starts
        // (O2).
        fallback = activity ?? (isInteractiveMain ? .userInitiated : creator)
    }

    /// Returns the level of an operation without an assigned one, when it is added to a queue (rule O1).
    package func level(inQueueAt queue: QoSLevel?) -> QoSLevel {
        operation ?? queue ?? fallback ?? .default
    }
}
