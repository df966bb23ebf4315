import Backup
import Glibc
import Synchronization

/// Lets calls on the storage fail, from a certain one on.
final class StorageFault: Sendable {
    /// The way in which they fail.
    enum Kind: String, CaseIterable, Sendable {
        /// One call fails with an error of the device. Then all is as before.
        case broken
        /// All calls that need room fail. A repository's reserve has room for marks and leases.
        case full
    }

    private struct State {
        var calls = 0
        var failed: [StorageCall] = []
        var hasReserve = true
    }

    private let kind: Kind
    private let first: Int
    private let state = Mutex(State())

    /// Makes a fault.
    ///
    /// - Parameter first: The number of the first call that fails, from 0 on.
    init(_ kind: Kind, from first: Int) {
        self.kind = kind
        self.first = first
    }

    /// The calls that failed.
    var failed: [StorageCall] { state.withLock { $0.failed } }

    /// To be called before each call.
    var hook: StorageHook {
        { call in self.state.withLock { self.code(of: call, &$0) } }
    }

    private func code(of call: StorageCall, _ state: inout State) -> Int32 {
        // A lease that cannot be removed stays as long as this process.
        guard call.place != .leases || call.operation != .remove else { return 0 }
        switch kind {
        case .broken:
            state.calls += 1
            guard state.calls == first + 1 else { return 0 }
        case .full:
            guard call.operation != .remove else {
                if call.place == .reserve { state.hasReserve = false }
                return 0
            }
            state.calls += 1
            guard state.calls > first else { return 0 }
            if !state.hasReserve, [.leases, .doomed].contains(call.place) { return 0 }
        }
        state.failed.append(call)
        return kind == .full ? ENOSPC : EIO
    }
}
