import QoSWorkloads
import Synchronization

/// Processes that a test ends.
final class SimulatedProcesses: HolderProcesses {
    private struct State {
        var gone: Set<String> = []
        var isWatchable = true
        var waiters: [(process: String, continuation: AsyncStream<Void>.Continuation)] = []
    }
    private let state = Mutex(State())

    let current: String? = "this"

    /// The processes that somebody waits for.
    var watched: [String] { state.withLock { $0.waiters.map(\.process) } }

    /// Lets no process be watched, as without a descriptor to spare.
    func refuseToWatch() { state.withLock { $0.isWatchable = false } }

    func end(_ process: String) {
        let waiters = state.withLock { state in
            state.gone.insert(process)
            defer { state.waiters.removeAll { $0.process == process } }
            return state.waiters.filter { $0.process == process }
        }
        for waiter in waiters { waiter.continuation.yield() }
    }

    func isGone(_ process: String) -> Bool { state.withLock { $0.gone.contains(process) } }

    func waitUntilEnded(_ process: String) async -> Bool {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let waits = state.withLock { state in
            guard !state.gone.contains(process), state.isWatchable else { return false }
            state.waiters.append((process, continuation))
            return true
        }
        guard waits else { return isGone(process) }
        for await _ in stream { return true }
        return false
    }
}
