internal import QoSKernel

/// Something to wait for that happens once: tasks wait by suspension, threads by parking.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var tasks: [CheckedContinuation<Void, Never>] = []
        var threads: [Waiter] = []
    }

    private final class Waiter: Sendable {
        let parker = Parker()
    }

    private let state = Lock(State())

    /// A closed gate.
    package init() {}

    /// Whether it was opened.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Lets everybody pass, now and later. Any thread, any number of times.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { (state.tasks, state.threads) = ([], []) }
            return (state.tasks, state.threads)
        }
        for task in waiting.0 { task.resume() }
        for thread in waiting.1 { thread.parker.unpark() }
    }

    /// Suspends the calling task until the gate is open. Pays no attention to cancellation.
    package func passed() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.tasks.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks the calling thread until the gate is open: for jobs that keep their worker.
    package func blockThread() {
        let waiter = Waiter()
        let isOpen = state.withLock { state in
            if !state.isOpen { state.threads.append(waiter) }
            return state.isOpen
        }
        if !isOpen { waiter.parker.park() }
    }
}
