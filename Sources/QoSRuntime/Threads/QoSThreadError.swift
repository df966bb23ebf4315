/// A call that a thread refuses.
public enum QoSThreadError: Error, Sendable, Hashable {
    /// The level of a running or ended thread was set from outside (rule T3).
    case alreadyStarted(name: String)
    /// The thread was opted out by a call that changed its scheduling (rule T4).
    case optedOut
    /// The calling thread has no level of its own.
    case noLevelOfItsOwn
    /// A thread waits for its own end.
    case joinsItself(name: String)
    /// The calling thread would wait for a thread that waits for it, directly or through others. Holds every wait of
    /// the circle.
    case deadlock(waits: [String])
    /// The calling thread or task waits for a thread that was not started.
    case notStarted(name: String)
    /// The system refused. The text says what failed and what helps.
    case refused(String)
}

extension QoSThreadError: CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .alreadyStarted(let name):
            "thread '\(name)' has been started: set its level before, or let it call QoSThread.setCurrentLevel itself"
        case .optedOut:
            "the calling thread changed its scheduling by itself and has no level since: use a new thread"
        case .noLevelOfItsOwn:
            "the calling thread has no level of its own: start a QoSThread; in a task use QoSScheduler.withQoS"
        case .joinsItself(let name):
            "thread '\(name)' waits for its own end: join it from another thread"
        case .deadlock(let waits):
            "the join would never end (\(waits.joined(separator: "; "))): let one of them not wait for the other"
        case .notStarted(let name):
            "thread '\(name)' was not started: call start() before waiting for its end"
        case .refused(let text):
            text
        }
    }
}
