/// The states of an operation from the present one to its end: see ``BaseOperation/states``.
///
/// It skips a state that the watcher did not read before the next one came. It never skips the last one.
public struct OperationStates: AsyncSequence, Sendable {
    let operation: BaseOperation

    /// Returns an iterator that begins with the operation's present state.
    public func makeAsyncIterator() -> Iterator {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        OperationEngine.shared.watch(operation, continuation)
        return Iterator(operation: operation, changes: changes.makeAsyncIterator())
    }

    /// An iterator over the states.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let operation: BaseOperation
        fileprivate var changes: AsyncStream<Void>.Iterator
        private var last: OperationState?

        fileprivate init(operation: BaseOperation, changes: AsyncStream<Void>.Iterator) {
            self.operation = operation
            self.changes = changes
        }

        /// The next state; `nil` after the operation's end, or if the calling task was cancelled.
        ///
        /// It returns at once if the operation's state differs from the last one.
        public mutating func next() async -> OperationState? {
            await next(isolation: #isolation)
        }

        /// The next state, for a caller of that isolation: see ``next()``.
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
