internal import Synchronization

/// The converters that a pass runs at the moment, so that another thread can end them.
public final class RunningConversions: Sendable {
    private struct State {
        var processes: [ObjectIdentifier: ConversionProcess] = [:]
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Kills the converters that run, and lets no other one start before the next step of the pass.
    ///
    /// Their files stay pending, and a later step converts them from the beginning. Any thread may call it. It waits
    /// for nothing.
    public func stop() {
        state.withLock { state in
            state.isStopped = true
            for process in state.processes.values { process.cancel() }
        }
    }

    /// Whether converters were stopped since the last call of `allow`.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Lets converters start again.
    func allow() {
        state.withLock { $0.isStopped = false }
    }

    /// Registers a run that is about to begin. A run that begins after a stop ends at once.
    func begin(_ process: ConversionProcess) {
        state.withLock { state in
            state.processes[ObjectIdentifier(process)] = process
            if state.isStopped { process.cancel() }
        }
    }

    /// Forgets a run that has ended.
    func end(_ process: ConversionProcess) {
        state.withLock { $0.processes[ObjectIdentifier(process)] = nil }
    }
}
