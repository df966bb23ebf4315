import QoSKernel

/// How far an operation is, to be reported by its body and watched by whoever waits.
///
/// Threading: any thread.
public final class OperationProgress: Sendable {
    /// What was reported last.
    public struct State: Sendable, Hashable {
        /// 0…1; of an amount that is not known, what was reported before.
        public var fraction: Double
        /// How much is done, in units of the body's choice; `nil` where only a fraction was reported.
        public var completed: Int?
        /// How much there is in all, in the same units; `nil` for an amount that is not known.
        public var total: Int?
        /// What it is doing, for people; `nil` without one.
        public var text: String?
        /// Whether the operation has ended; nothing follows.
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

        /// Whether it is known how much is done, and not how much there is.
        public var isIndefinite: Bool { completed != nil && total == nil }
    }

    private struct Storage {
        var state = State(fraction: 0, text: nil, isFinished: false)
        var observers: [UInt64: AsyncStream<State>.Continuation] = [:]
        var lastObserver: UInt64 = 0
    }

    private let storage: Lock<Storage>

    /// Makes the progress of an operation that has not ended, or that has.
    init(isFinished: Bool) {
        var storage = Storage()
        storage.state.isFinished = isFinished
        self.storage = Lock(storage)
    }

    /// What was reported last.
    public var current: State { storage.withLock { $0.state } }

    /// Reports how far the work is.
    ///
    /// - Parameters:
    ///   - fraction: 0…1; anything else is moved to the nearest end. NaN changes nothing.
    ///   - text: what the work is doing; `nil` keeps the last.
    public func report(_ fraction: Double, _ text: String? = nil) {
        change { state in
            if !fraction.isNaN {
                state.fraction = min(max(fraction, 0), 1)
                (state.completed, state.total) = (nil, nil)
            }
            if let text { state.text = text }
        }
    }

    /// Reports how much of the work is done, in units of the body's choice.
    ///
    /// - Parameters:
    ///   - completed: not negative; more than the total counts as that.
    ///   - total: how much there is in all; `nil`, zero or less for an amount that is not known, which leaves the fraction.
    ///   - text: what the work is doing; `nil` keeps the last.
    public func report(_ completed: Int, of total: Int?, _ text: String? = nil) {
        let total = total.flatMap { $0 > 0 ? $0 : nil }
        let completed = min(max(completed, 0), total ?? .max)
        change { state in
            (state.completed, state.total) = (completed, total)
            if let total { state.fraction = Double(completed) / Double(total) }
            if let text { state.text = text }
        }
    }

    /// The states from now on, the present one first; the ones that nobody took in time are passed over. Ends with the
    /// operation.
    public var updates: AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(1))
        let (number, state) = storage.withLock { storage in
            storage.lastObserver += 1
            if !storage.state.isFinished { storage.observers[storage.lastObserver] = continuation }
            return (storage.lastObserver, storage.state)
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.storage.withLock { $0.observers.removeValue(forKey: number) }
        }
        continuation.yield(state)
        if state.isFinished { continuation.finish() }
        return stream
    }

    /// The operation has ended.
    func finish() {
        change { state in state.isFinished = true }
        let observers = storage.withLock { storage in
            defer { storage.observers = [:] }
            return Array(storage.observers.values)
        }
        for observer in observers { observer.finish() }
    }

    private func change(_ body: (inout State) -> Void) {
        let (state, observers) = storage.withLock { storage in
            if !storage.state.isFinished { body(&storage.state) }
            return (storage.state, Array(storage.observers.values))
        }
        for observer in observers { observer.yield(state) }
    }
}

extension AnyOperation {
    /// How far the operation is.
    public var progress: OperationProgress {
        OperationDomain.shared.look { _ in
            if let progress = record.progress { return progress }
            var isFinished = false
            if case .finished = record.phase { isFinished = true }
            let progress = OperationProgress(isFinished: isFinished)
            record.progress = progress
            return progress
        }
    }
}
