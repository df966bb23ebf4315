import QoSKernel

/// The progress of an operation. Its body reports, and others watch.
///
/// Threading: any thread.
public final class OperationProgress: Sendable {
    /// A report of progress.
    public struct State: Sendable, Hashable {
        /// The completed fraction, 0…1. For an unknown total, the last reported fraction.
        public var fraction: Double
        /// The completed amount, in units of the body's choice; `nil` if only a fraction was reported.
        public var completed: Int?
        /// The total amount, in the same units; `nil` if it is unknown.
        public var total: Int?
        /// The present activity, for people; `nil` without one.
        public var text: String?
        /// Whether the operation has ended. No further state follows.
        public var isFinished: Bool

        /// Makes a state.
        public init(
            fraction: Double, completed: Int? = nil, total: Int? = nil, text: String? = nil, isFinished: Bool = false
        ) {
            self.fraction = fraction
            self.completed = completed
            self.total = total
            self.text = text
            self.isFinished = isFinished
        }

        /// Whether the completed amount is known, and the total is not.
        public var isIndefinite: Bool { completed != nil && total == nil }
    }

    private struct Storage {
        var state = State(fraction: 0, text: nil, isFinished: false)
        var observers: [UInt64: StateSender<State>] = [:]
        var lastObserver: UInt64 = 0
        /// The number of the last state that was given to observers.
        var lastSent: UInt64 = 0

        /// The present state for the observers, with its number.
        mutating func sent() -> (state: State, number: UInt64, observers: [StateSender<State>]) {
            lastSent += 1
            return (state, lastSent, Array(observers.values))
        }
    }

    private let storage: Lock<Storage>

    /// Makes the progress of a running or an ended operation.
    init(isFinished: Bool) {
        var storage = Storage()
        storage.state.isFinished = isFinished
        self.storage = Lock(storage)
    }

    /// The last report.
    public var current: State { storage.withLock { $0.state } }

    /// Reports a completed fraction.
    ///
    /// - Parameters:
    ///   - fraction: 0…1; a value outside is moved to the nearest end. NaN changes nothing.
    ///   - text: the present activity; `nil` keeps the last one.
    public func report(_ fraction: Double, _ text: String? = nil) {
        change { state in
            if !fraction.isNaN {
                state.fraction = min(max(fraction, 0), 1)
                (state.completed, state.total) = (nil, nil)
            }
            if let text { state.text = text }
        }
    }

    /// Reports a completed amount, in units of the body's choice.
    ///
    /// - Parameters:
    ///   - completed: not negative; more than the total counts as the total.
    ///   - total: the total amount. `nil`, zero or less means that it is unknown; the fraction then stays.
    ///   - text: the present activity; `nil` keeps the last one.
    public func report(_ completed: Int, of total: Int?, _ text: String? = nil) {
        let total = total.flatMap { $0 > 0 ? $0 : nil }
        let completed = min(max(completed, 0), total ?? .max)
        change { state in
            (state.completed, state.total) = (completed, total)
            if let total { state.fraction = Double(completed) / Double(total) }
            if let text { state.text = text }
        }
    }

    /// The states from now on, the present one first. It skips states that were not read in time, and ends with the
    /// operation.
    public var updates: AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(1))
        let sender = StateSender(continuation)
        let (key, first) = storage.withLock { storage in
            storage.lastObserver += 1
            if !storage.state.isFinished { storage.observers[storage.lastObserver] = sender }
            return (storage.lastObserver, storage.sent())
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.storage.withLock { $0.observers.removeValue(forKey: key) }
        }
        sender.send(first.state, first.number, isLast: first.state.isFinished)
        return stream
    }

    /// Notes that the operation has ended.
    func finish() {
        let last = storage.withLock { storage in
            storage.state.isFinished = true
            defer { storage.observers = [:] }
            return storage.sent()
        }
        for observer in last.observers { observer.send(last.state, last.number, isLast: true) }
    }

    private func change(_ body: (inout State) -> Void) {
        let next = storage.withLock { storage in
            if !storage.state.isFinished { body(&storage.state) }
            return storage.sent()
        }
        for observer in next.observers { observer.send(next.state, next.number) }
    }
}
