/// An operation of an ``OperationGraph``: dense, and used again once the operation was forgotten.
package struct OperationID: Sendable, Hashable {
    /// The place in the graph's table.
    package let index: UInt32

    /// The operation at a place of the table.
    package init(index: UInt32) {
        self.index = index
    }
}

extension OperationID: CustomStringConvertible {
    /// As in "operation 3".
    package var description: String { "operation \(index)" }
}

/// A queue of an ``OperationGraph``: dense, and used again once the queue was released and is empty.
package struct OperationQueueID: Sendable, Hashable {
    /// The place in the graph's table.
    package let index: UInt32

    /// The queue at a place of the table.
    package init(index: UInt32) {
        self.index = index
    }
}

extension OperationQueueID: CustomStringConvertible {
    /// As in "queue 3".
    package var description: String { "queue \(index)" }
}
