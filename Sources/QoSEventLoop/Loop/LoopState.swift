/// The state behind the loop's lock: its phase, and the bodies that wait for its thread.
///
/// ```
/// created ── run() ──▶ running ── sees a stop ──▶ draining ── last bodies ran ──▶ closing ── all closed ──▶ closed
/// ```
///
/// A caller may ask for a stop before the loop runs. The loop then acts on it at once. Each event returns its
/// consequences.
struct LoopState {
    /// Something to be run on the loop's thread.
    typealias Body = @Sendable () -> Void

    private enum Phase: Equatable {
        case created(isStopRequested: Bool)
        case running(isStopRequested: Bool)
        /// The last bodies run; they may still make handles, but submit nothing.
        case draining
        case closing
        case closed
    }

    /// The loop's action after a wake-up.
    struct Batch {
        /// The bodies to run, in the order of their submission.
        let bodies: [Body]
        /// Whether the loop ends after them.
        let endsLoop: Bool
    }

    private var phase = Phase.created(isStopRequested: false)
    private var inbox: [Body] = []

    /// Whether handles may be made.
    var acceptsHandles: Bool {
        switch phase {
        case .created, .running, .draining: true
        case .closing, .closed: false
        }
    }

    /// Whether the loop has open handles.
    var needsClosing: Bool { phase != .closed }

    /// A thread called `run()`. Returns whether it may: the first one only.
    mutating func runCalled() -> Bool {
        guard case .created(let isStopRequested) = phase else { return false }
        phase = .running(isStopRequested: isStopRequested)
        return true
    }

    /// A thread called `stop()`. Returns whether the loop must be woken to see it.
    mutating func stopCalled() -> Bool {
        switch phase {
        case .created(isStopRequested: false): phase = .created(isStopRequested: true)
        case .running(isStopRequested: false): phase = .running(isStopRequested: true)
        case .created, .running, .draining, .closing, .closed: return false
        }
        return true
    }

    /// A thread submitted a body. Returns whether it was accepted: not once the last bodies were taken.
    mutating func submitted(_ body: @escaping Body) -> Bool {
        switch phase {
        case .created, .running: inbox.append(body)
        case .draining, .closing, .closed: return false
        }
        return true
    }

    /// The loop woke up. Returns the bodies; if a stop was asked for, they are the last ones.
    mutating func wokeUp() -> Batch {
        let endsLoop = phase == .running(isStopRequested: true)
        if endsLoop {
            phase = .draining
        }
        defer { inbox = [] }
        return Batch(bodies: inbox, endsLoop: endsLoop)
    }

    /// The last bodies ran, and the loop begins to close its handles.
    mutating func closingBegan() {
        phase = .closing
    }

    /// Every handle is closed.
    mutating func closed() {
        phase = .closed
    }
}
