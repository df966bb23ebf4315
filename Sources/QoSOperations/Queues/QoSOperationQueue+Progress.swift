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
                if let report = state[id]?.report() { actions.observers.append(report) }
            }
        }
    }

    /// The queue's progress from now on, the present state first. It skips states that were not read in time.
    ///
    /// It ends when the queue was released and all of its operations have ended.
    public var progressUpdates: AsyncStream<QueueProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: QueueProgress.self, bufferingPolicy: .bufferingNewest(1))
        let sender = StateSender(continuation)
        let id = self.id
        let (number, first) = OperationEngine.shared.look { state -> (UInt64, QueueProgress.Report?) in
            let number = (state[id]?.lastObserver ?? 0) + 1
            state[id]?.lastObserver = number
            state[id]?.observers[number] = sender
            return (number, state[id]?.report())
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            OperationEngine.shared.look { state in _ = state[self.id]?.observers.removeValue(forKey: number) }
        }
        if let first { sender.send(first.progress, first.number) }
        return stream
    }
}
