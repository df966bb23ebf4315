internal import Synchronization
public import TreeScan

/// The files that somebody waits for. A sync copies them before all others.
public final class WantedFiles: Sendable {
    private struct State {
        var waiters: [RelativePath: [Int: CheckedContinuation<Void, Never>]] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Makes an empty collection.
    public init() {}

    /// The paths of the files.
    public var paths: Set<RelativePath> { state.withLock { Set($0.waiters.keys) } }

    /// Suspends until a sync has written a file under this path, or the task is cancelled.
    public func wait(for path: RelativePath) async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                // A cancellation before this point found no waiter, and one after it finds this one.
                let isCancelled = state.withLock { state in
                    state.waiters[path, default: [:]][number] = waiter
                    return Task.isCancelled
                }
                if isCancelled { end(number, of: path) }
            }
        } onCancel: {
            end(number, of: path)
        }
    }

    private func end(_ number: Int, of path: RelativePath) {
        let waiter = state.withLock { state in
            let waiter = state.waiters[path]?.removeValue(forKey: number)
            if state.waiters[path]?.isEmpty == true { state.waiters[path] = nil }
            return waiter
        }
        waiter?.resume()
    }

    /// Ends the waits for a file.
    func noteWritten(_ path: RelativePath) {
        let waiters = state.withLock { $0.waiters.removeValue(forKey: path) }
        for waiter in (waiters ?? [:]).values { waiter.resume() }
    }
}
