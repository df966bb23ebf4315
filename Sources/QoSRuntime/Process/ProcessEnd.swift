import QoSKernel

/// The end of the process as a value. The body's outcome and signals are its events, in either order.
struct ProcessEnd {
    /// The reaction to an event.
    enum Action: Equatable {
        case nothing
        /// Cancel the body's task and give it this signal's grace.
        case cancelBody(signal: Int32)
        /// Wait for the work that blocks the end, at most for the grace.
        case awaitHeld
        /// End the process with the status, after the message.
        case exit(status: Int32, message: String?)
    }

    private var signal: Int32?
    private var hasBegun = false
    private var hasEnded = false

    /// The prepared end of the process, while work blocks it.
    private var waiting: (status: Int32, message: String?)?

    /// Handles the beginning of the body.
    mutating func bodyBegan() { hasBegun = true }

    /// Handles a signal that asks for the end. A body that has not begun needs no time to end: it may wait for a thread
    /// that the system refuses.
    mutating func received(signal number: Int32) -> Action {
        if waiting.take() != nil { return end(status: 128 + number) }
        if signal != nil { return end(status: 128 + number) }
        if hasEnded { return .nothing }
        guard hasBegun else { return end(status: 128 + number) }
        signal = number
        graceNumber += 1
        return .cancelBody(signal: number)
    }

    /// The number of graces that have begun. One that was replaced by the next has no effect any more.
    private(set) var graceNumber = 0

    /// Handles the end of a grace: the body's after a signal, or that of the work that blocks the end.
    mutating func graceEnded(number: Int) -> Action {
        guard number == graceNumber else { return .nothing }
        if let waiting = waiting.take() {
            return end(
                status: waiting.status,
                message: (waiting.message.map { $0 + "\n" } ?? "")
                    + "work that blocks the end of the program did not come to its own in time: giving up on it")
        }
        return end(
            status: 128 + (signal ?? 0), message: "the program did not end in time after a signal: giving up on it")
    }

    /// Handles the end of the work that blocked the end.
    mutating func heldEnded() -> Action {
        guard let waiting = waiting.take() else { return .nothing }
        return end(status: waiting.status, message: waiting.message)
    }

    /// Handles the end of the body.
    ///
    /// - Parameter isHeld: whether other work blocks the end of the process.
    mutating func bodyEnded(_ outcome: Result<Void, any Error>, isHeld: Bool = false) -> Action {
        let action = bodyEnded(outcome)
        guard isHeld, case .exit(let status, let message) = action else { return action }
        hasEnded = false
        waiting = (status, message)
        graceNumber += 1
        return .awaitHeld
    }

    private mutating func bodyEnded(_ outcome: Result<Void, any Error>) -> Action {
        switch outcome {
        case .success:
            end(status: 0)
        case .failure(let status as QoSProcess.ExitStatus):
            end(status: Int32(status.code))
        case .failure(is CancellationError) where signal != nil:
            end(status: 128 + (signal ?? 0))
        case .failure(let error):
            end(status: 1, message: "\(error)")
        }
    }

    /// Returns the end of the process. Only the first end counts: `exit` must not be called by two threads at once
    /// (exit(3)).
    private mutating func end(status: Int32, message: String? = nil) -> Action {
        if hasEnded || waiting != nil { return .nothing }
        hasEnded = true
        return .exit(status: status, message: message)
    }

    /// Writes a message for the user of the program.
    static func report(_ message: String) {
        StandardError.write("error: \(message)")
    }
}
