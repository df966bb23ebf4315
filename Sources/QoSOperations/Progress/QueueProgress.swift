/// How far a queue is: of all operations that were added to it, how many have ended.
public struct QueueProgress: Sendable, Hashable {
    /// How many operations were added.
    public let added: Int
    /// How many of them have ended, in whatever way.
    public let finished: Int

    /// How many are going to be added in all, as far as somebody has said so: see ``QoSOperationQueue/expectedCount``.
    public let expected: Int?

    /// How many there are in all: those that were added, or that are expected if these are more.
    public var total: Int { max(added, expected ?? 0) }

    /// 0…1; 1 for a queue that was given nothing and expects nothing.
    public var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }

    /// Makes a progress from numbers.
    public init(added: Int, finished: Int, expected: Int? = nil) {
        self.added = added
        self.finished = finished
        self.expected = expected
    }

    init(_ queue: DomainQueue?) {
        added = queue?.added ?? 0
        finished = queue?.finished ?? 0
        expected = queue?.expected
    }

    /// Something to tell a queue's observers, outside of the lock.
    struct Report: Sendable {
        private let progress: QueueProgress
        private let observers: [AsyncStream<QueueProgress>.Continuation]
        private let isLast: Bool

        init(_ queue: DomainQueue, isLast: Bool = false) {
            progress = QueueProgress(queue)
            observers = Array(queue.observers.values)
            self.isLast = isLast
        }

        func send() {
            for observer in observers {
                observer.yield(progress)
                if isLast { observer.finish() }
            }
        }
    }
}
