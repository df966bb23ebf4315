import Synchronization

/// Lets one task wait until it is told to go on. Any thread.
final class Signal: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, Never>)
        case sent
    }

    private let state = Mutex(State.idle)

    /// Suspends until ``send()``; returns at once if that came first.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isSent = state.withLock { state in
                if case .sent = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isSent { continuation.resume() }
        }
    }

    /// Lets the task go on, now or when it comes.
    func send() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .sent }
            return if case .waiting(let continuation) = state { continuation } else { nil }
        }
        waiter?.resume()
    }
}
