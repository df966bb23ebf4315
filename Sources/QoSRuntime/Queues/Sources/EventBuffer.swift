import QoSKernel

/// Holds one event of a source for the task that awaits it. The source merges further events until the task takes this
/// one, so a slow task costs no memory.
///
/// Threading: any thread.
final class EventBuffer<Event: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Event?, Never>

    private struct State {
        var event: Event?
        var onTake: (@Sendable () -> Void)?
        var isFinished = false
        var waiters: [Waiter] = []

        mutating func take() -> (event: Event, onTake: (@Sendable () -> Void)?)? {
            event.take().map { ($0, onTake.take()) }
        }
    }

    private let state = Lock(State())

    /// Offers an event, after the last one was taken.
    ///
    /// - Parameter onTake: called once, when a task has the event.
    func put(_ event: Event, onTake: @escaping @Sendable () -> Void) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            (state.event, state.onTake) = (event, onTake)
            return nil
        }
        guard let waiter else { return }
        waiter.resume(returning: event)
        onTake()
    }

    /// Ends the sequence after the event in the buffer.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// Waits for the next event; `nil` after the last one.
    func next() async -> Event? {
        await withCheckedContinuation { waiter in
            let (taken, waits) = state.withLock { state in
                let taken = state.take()
                let waits = taken == nil && !state.isFinished
                if waits { state.waiters.append(waiter) }
                return (taken, waits)
            }
            guard !waits else { return }
            waiter.resume(returning: taken?.event)
            taken?.onTake?()
        }
    }

    /// Returns the events as a sequence, which keeps the source until the sequence is released or its task is
    /// cancelled.
    func stream(of source: WorkSource) -> AsyncStream<Event> {
        source.onCancel { [self] in finish() }
        return AsyncStream {
            await self.next()
        } onCancel: {
            source.cancel()
        }
    }
}
