/// The progress of a queue: the numbers of its added and its ended operations.
public struct QueueProgress: Sendable, Hashable {
    /// The number of added operations.
    public let added: Int
    /// The number of ended operations, whatever their outcome.
    public let finished: Int

    /// The expected number of operations; `nil` if it was not set: see ``QoSOperationQueue/expectedCount``.
    public let expected: Int?

    /// The number of operations in all: the added ones, or the expected ones if these are more.
    public var total: Int { max(added, expected ?? 0) }

    /// The completed fraction, 0…1; 1 for a queue without added and expected operations.
    public var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }

    /// Makes a progress from numbers.
    public init(added: Int, finished: Int, expected: Int? = nil) {
        self.added = added
        self.finished = finished
        self.expected = expected
    }

    /// A message to a queue's observers, sent outside of the lock.
    struct Report: Sendable {
        let progress: QueueProgress
        /// The place in the order of the queue's messages.
        let number: UInt64
        let observers: [StateSender<QueueProgress>]
        let isLast: Bool

        func send() {
            for observer in observers { observer.send(progress, number, isLast: isLast) }
        }
    }
}
