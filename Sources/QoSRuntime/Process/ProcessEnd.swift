import Glibc

/// How the process ends, as a value: fed by the body's outcome and by signals, whatever comes first.
struct ProcessEnd {
    /// What is to be done after an event.
    enum Action: Equatable {
        case nothing
        /// Cancel the body's task and give it this signal's grace.
        case cancelBody(signal: Int32)
        /// End the process with the status, after the message.
        case exit(status: Int32, message: String?)
    }

    private var signal: Int32?
    private var hasEnded = false

    /// A signal that asks for the end came in.
    mutating func received(signal number: Int32) -> Action {
        if signal != nil { return end(status: 128 + number) }
        if hasEnded { return .nothing }
        signal = number
        return .cancelBody(signal: number)
    }

    /// The time that the body had after a signal is over.
    mutating func graceEnded() -> Action {
        end(
            status: 128 + (signal ?? 0), message: "the program did not end in time after a signal: giving up on it")
    }

    /// The body came to its end.
    mutating func bodyEnded(_ outcome: Result<Void, any Error>) -> Action {
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
        if hasEnded { return .nothing }
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
