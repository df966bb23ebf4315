/// An operation of an ``OperationGraph``: a dense number, which is reused once the operation was forgotten.
package struct OperationID: Sendable, Hashable {
    /// The place in the graph's table.
    package let index: UInt32

    /// Makes the operation at a place of the table.
    package init(index: UInt32) {
        self.index = index
    }
}

extension OperationID: CustomStringConvertible {
    /// The operation in words, for example "operation 3".
    package var description: String { "operation \(index)" }
}

/// A queue of an ``OperationGraph``: a dense number, which is reused once the queue was released and is empty.
package struct OperationQueueID: Sendable, Hashable {
    /// The place in the graph's table.
    package let index: UInt32

    /// Makes the queue at a place of the table.
    package init(index: UInt32) {
        self.index = index
    }
}

extension OperationQueueID: CustomStringConvertible {
    /// The queue in words, for example "queue 3".
    package var description: String { "queue \(index)" }
}
