internal import Synchronization

/// The status of an index. The pass writes it, and any thread reads it.
final class StatusBoard: Sendable {
    private let status: Mutex<IndexStatus>

    init(_ status: IndexStatus) {
        self.status = Mutex(status)
    }

    /// The status now.
    var current: IndexStatus {
        status.withLock { $0 }
    }

    /// Changes the status. `change` only assigns.
    func update(_ change: (inout IndexStatus) -> Void) {
        status.withLock { change(&$0) }
    }
}
