extension QoSOperationQueue {
    /// The progress of the queue.
    public var progress: QueueProgress {
        OperationEngine.shared.look { state in state[id]?.progress ?? QueueProgress(added: 0, finished: 0) }
    }

    /// The expected number of operations in all, for ``progress`` only; `nil` counts the added ones.
    public var expectedCount: Int? {
        get { OperationEngine.shared.look { $0[id]?.expected } }
        set {
            OperationEngine.shared.change { state, actions in
                state[id]?.expected = newValue
                if let record = state[id], !record.observers.isEmpty { actions.observers.append(record.report()) }
            }
        }
    }

    /// The queue's progress from now on, the present state first. It skips states that were not read in time.
    ///
    /// It ends when the queue was released and all of its operations have ended.
    public var progressUpdates: AsyncStream<QueueProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: QueueProgress.self, bufferingPolicy: .bufferingNewest(1))
        let id = self.id
        let (number, progress) = OperationEngine.shared.look { state in
            let number = (state[id]?.lastObserver ?? 0) + 1
            state[id]?.lastObserver = number
            state[id]?.observers[number] = continuation
            return (number, state[id]?.progress ?? QueueProgress(added: 0, finished: 0))
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            OperationEngine.shared.look { state in _ = state[self.id]?.observers.removeValue(forKey: number) }
        }
        continuation.yield(progress)
        return stream
    }
}
