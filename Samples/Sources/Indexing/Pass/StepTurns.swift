internal import Synchronization

/// The right to change an index: for one step of a pass, or for a whole refresh of a folder. First come, first served.
final class StepTurns: Sendable {
    private struct Waiter {
        var number: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var isTaken = false
        var waiters: [Waiter] = []
        var count = 0
    }

    private let state = Mutex(State())

    /// Takes the right if it is free.
    func takeIfFree() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// Takes the right, and suspends the task until it is free.
    ///
    /// - Parameter deadline: The moment at which the wait ends; nil for none.
    /// - Returns: Whether it is taken. It is not after the deadline, or after a cancellation.
    func take(until deadline: ContinuousClock.Instant? = nil) async -> Bool {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let timer = deadline.map { deadline in
            Task {
                try? await Task.sleep(until: deadline, clock: .continuous)
                abandon(number)
            }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // A cancellation before this moment found no waiter.
                    if Task.isCancelled { return false }
                    if !state.isTaken {
                        state.isTaken = true
                        return true
                    }
                    // The timer may have gone off before this moment, too.
                    if let deadline, deadline <= .now { return false }
                    state.waiters.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
                if answer == nil, Task.isCancelled { abandon(number) }
            }
        } onCancel: {
            abandon(number)
        }
    }

    /// Gives the right to the first one that waits.
    func give() {
        let next = state.withLock { state -> Waiter? in
            guard !state.waiters.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }

    /// Ends a wait without the right.
    private func abandon(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiters.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.waiters.remove(at: place)
        }
        waiter?.continuation.resume(returning: false)
    }
}
