internal import Glibc
internal import Synchronization

/// A named point of the work at which a test kills the process: `VARIABLE=name` or, at the third time, `VARIABLE=name:3`.
package final class KillPoint: Sendable {
    private let name: String
    private let count: Int
    private let seen = Atomic<Int>(0)

    /// Reads the point from an environment variable; nil if there is none.
    package init?(_ variable: String, in environment: [String: String]) {
        guard let parts = environment[variable]?.split(separator: ":"), let name = parts.first else { return nil }
        self.name = String(name)
        count = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
    }

    /// Says so, and kills the process with SIGKILL, if this is the point, and the work has come to it often enough.
    package func reached(_ point: String) {
        guard point == name, seen.wrappingAdd(1, ordering: .relaxed).newValue == count else { return }
        complain("killed at \(point)")
        kill(getpid(), SIGKILL)
    }
}
