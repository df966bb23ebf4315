/// The states of an operation from the present one to its end: see ``AnyOperation/states``.
///
/// A state that nobody took before the next one came is passed over; the last one never is.
public struct OperationStates: AsyncSequence, Sendable {
    let operation: AnyOperation

    /// Begins with the state that the operation has now.
    public func makeAsyncIterator() -> Iterator {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        OperationDomain.shared.watch(operation, continuation)
        return Iterator(operation: operation, changes: changes.makeAsyncIterator())
    }

    /// Goes on from one state to the next.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let operation: AnyOperation
        fileprivate var changes: AsyncStream<Void>.Iterator
        private var last: OperationState?

        fileprivate init(operation: AnyOperation, changes: AsyncStream<Void>.Iterator) {
            self.operation = operation
            self.changes = changes
        }

        /// The next state, at once if the operation has another one than the last; `nil` after its end, or when the calling
        /// task was cancelled.
        public mutating func next() async -> OperationState? {
            await next(isolation: #isolation)
        }

        /// As ``next()``, for a caller of that isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> OperationState? {
            while true {
                if case .finished = last { return nil }
                let state = operation.state
                if state != last {
                    last = state
                    return state
                }
                if await changes.next(isolation: actor) == nil { return nil }
            }
        }
    }
}
