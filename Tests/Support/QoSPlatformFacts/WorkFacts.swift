import QoSCore
import QoSRuntime

/// At which level work of ours runs, and how the kernel schedules its thread.
struct WorkFacts: Sendable, CustomStringConvertible {
    let level: QoSLevel?
    let thread: ThreadFacts

    /// Those of the calling code.
    static var here: WorkFacts { WorkFacts(level: QoS.currentLevel, thread: .here) }

    var description: String { "\(level.name), \(thread)" }
}

extension QoSLevel? {
    /// The level's name.
    var name: String { self?.description ?? "unspecified" }
}
