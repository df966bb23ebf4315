internal import Glibc
internal import Sync
internal import Synchronization

/// Kills the process at a step of the run, for tests: `QOS_SYNC_KILL_AT=exchanged` or, at the third time, `exchanged:3`.
final class KillPlace: Sendable {
    private let step: SyncStep
    private let count: Int
    private let seen = Atomic<Int>(0)

    init?(_ environment: [String: String]) {
        guard let parts = environment["QOS_SYNC_KILL_AT"]?.split(separator: ":"), let name = parts.first,
            let step = SyncStep(rawValue: String(name))
        else { return nil }
        self.step = step
        count = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
    }

    /// Sets the place, and a small size of large files, so that small files show what large ones do.
    func apply(to options: inout SyncOptions) {
        options.reached = { self.reached($0) }
        options.largeFile = 1 << 20
    }

    private func reached(_ step: SyncStep) {
        guard step == self.step, seen.wrappingAdd(1, ordering: .relaxed).newValue == count else { return }
        kill(getpid(), SIGKILL)
    }
}
