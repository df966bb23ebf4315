import QoSKernel

/// A value that changes, for any number of tasks that follow it. A slow task sees the newest value and misses others.
///
/// Threading: any thread reads and subscribes; one thread publishes.
final class ValueBroadcast<Value: Sendable & Equatable>: Sendable {
    /// The producing end of one sequence.
    private struct Subscriber: Sendable {
        let yield: @Sendable (Value) -> Void
        let finish: @Sendable () -> Void
    }

    private struct State: Sendable {
        var value: Value
        var subscribers: [UInt64: Subscriber] = [:]
        var lastNumber: UInt64 = 0
        var isFinished = false
    }

    private let state: Lock<State>

    init(_ value: Value) {
        state = Lock(State(value: value))
    }

    /// The present value.
    var value: Value { state.withLock { $0.value } }

    /// The number of tasks that follow.
    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Makes a value the present one, and tells the subscribers if it is another one.
    func publish(_ value: Value) {
        let subscribers = state.withLock { state -> [Subscriber] in
            guard state.value != value, !state.isFinished else { return [] }
            state.value = value
            return Array(state.subscribers.values)
        }
        for subscriber in subscribers { subscriber.yield(value) }
    }

    /// Ends all sequences, and those that begin later, after their present value.
    func finish() {
        let subscribers = state.withLock { state -> [Subscriber] in
            state.isFinished = true
            defer { state.subscribers = [:] }
            return Array(state.subscribers.values)
        }
        for subscriber in subscribers { subscriber.finish() }
    }

    /// Returns a sequence of the present value and the later ones.
    func values() -> AsyncStream<Value> { subscription().values }

    /// Returns a sequence of the present value and the later ones, and a function that adds the present value again.
    func subscription() -> (values: AsyncStream<Value>, again: @Sendable () -> Void) {
        let (stream, end) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let subscriber = Subscriber(yield: { end.yield($0) }, finish: { end.finish() })
        let number = state.withLock { state -> UInt64? in
            // No task waits for the new sequence yet, so this only fills its buffer. A later value comes after it.
            subscriber.yield(state.value)
            guard !state.isFinished else { return nil }
            state.lastNumber += 1
            state.subscribers[state.lastNumber] = subscriber
            return state.lastNumber
        }
        let again: @Sendable () -> Void = { [weak self] in
            if let self { subscriber.yield(value) }
        }
        guard let number else {
            subscriber.finish()
            return (stream, again)
        }
        end.onTermination = { [weak self] _ in self?.remove(number) }
        return (stream, again)
    }

    private func remove(_ number: UInt64) {
        let removed = state.withLock { $0.subscribers.removeValue(forKey: number) }
        withExtendedLifetime(removed) {}
    }
}
