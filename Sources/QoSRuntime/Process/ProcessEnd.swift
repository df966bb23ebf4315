import Glibc

/// How the process ends, as a value: fed by the body's outcome and by signals, whatever comes first.
struct ProcessEnd {
    /// What is to be done after an event.
    enum Action: Equatable {
        case nothing
        /// Cancel the body's task and give it this signal's grace.
        case cancelBody(signal: Int32)
        /// Wait for what blocks the end, at most for the grace.
        case awaitHeld
        /// End the process with the status, after the message.
        case exit(status: Int32, message: String?)
    }

    private var signal: Int32?
    private var hasEnded = false

    /// How the process will end, once what blocks the end has come to its own.
    private var waiting: (status: Int32, message: String?)?

    /// A signal that asks for the end came in.
    mutating func received(signal number: Int32) -> Action {
        if waiting.take() != nil { return end(status: 128 + number) }
        if signal != nil { return end(status: 128 + number) }
        if hasEnded { return .nothing }
        signal = number
        return .cancelBody(signal: number)
    }

    /// The time that the body had after a signal, or that there was for what blocks the end, is over.
    mutating func graceEnded() -> Action {
        if let waiting = waiting.take() {
            return end(
                status: waiting.status,
                message: (waiting.message.map { $0 + "\n" } ?? "")
                    + "work that blocks the end of the program did not come to its own in time: giving up on it")
        }
        return end(
            status: 128 + (signal ?? 0), message: "the program did not end in time after a signal: giving up on it")
    }

    /// What blocked the end has come to its own.
    mutating func heldEnded() -> Action {
        guard let waiting = waiting.take() else { return .nothing }
        return end(status: waiting.status, message: waiting.message)
    }

    /// The body came to its end.
    ///
    /// - Parameter isHeld: whether other work blocks the end of the process.
    mutating func bodyEnded(_ outcome: Result<Void, any Error>, isHeld: Bool = false) -> Action {
        let action = bodyEnded(outcome)
        guard isHeld, case .exit(let status, let message) = action else { return action }
        hasEnded = false
        waiting = (status, message)
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

    /// The first end counts: `exit` must not be called by two threads at once (exit(3)).
    private mutating func end(status: Int32, message: String? = nil) -> Action {
        if hasEnded || waiting != nil { return .nothing }
        hasEnded = true
        return .exit(status: status, message: message)
    }

    /// Writes a message for the person who started the program.
    static func report(_ message: String) {
        var text = "error: \(message)\n"
        text.withUTF8 { bytes in
            // Nobody is left to be told of a failure.
            _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }
}
