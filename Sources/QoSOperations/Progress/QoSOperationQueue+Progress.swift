extension QoSOperationQueue {
    /// How far the queue is.
    public var progress: QueueProgress {
        OperationDomain.shared.look { state in QueueProgress(state[id]) }
    }

    /// How many operations the queue is going to be given in all, for its progress; `nil`, as long as nobody says, for those that it
    /// was given. Nothing else depends on it.
    public var expectedCount: Int? {
        get { OperationDomain.shared.look { $0[id]?.expected } }
        set {
            OperationDomain.shared.change { state, actions in
                state[id]?.expected = newValue
                if let record = state[id], !record.observers.isEmpty { actions.observers.append(.init(record)) }
            }
        }
    }

    /// How far the queue is from now on, the present state first; states that nobody took in time are passed over. Ends when
    /// the queue has been released and all that was in it has ended.
    public var progressUpdates: AsyncStream<QueueProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: QueueProgress.self, bufferingPolicy: .bufferingNewest(1))
        let id = self.id
        let (number, progress) = OperationDomain.shared.look { state in
            let number = (state[id]?.lastObserver ?? 0) + 1
            state[id]?.lastObserver = number
            state[id]?.observers[number] = continuation
            return (number, QueueProgress(state[id]))
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            OperationDomain.shared.look { state in _ = state[self.id]?.observers.removeValue(forKey: number) }
        }
        continuation.yield(progress)
        return stream
    }
}
