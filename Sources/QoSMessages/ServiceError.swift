/// The end of a request or message without a reply (rule M4).
///
/// ``mayHaveBegun`` says whether the peer's handler may have run. If it is `false`, the request can be sent again
/// without a double effect. Nothing is repeated behind the caller's back.
public struct ServiceError: Error, Sendable, Hashable {
    /// The kinds of ends.
    public enum Reason: Sendable, Hashable {
        /// The peer's process has ended. The number is the one that it had.
        case peerDied(pid: Int32)
        /// The connection has ended, and the peer's process has not, as far as is known.
        case connectionLost(String)
        /// There is no service of this name, or it does not answer.
        case serviceUnavailable(String)
        /// The service does not take this peer, or no further connection of its user.
        case refused(String)
        /// The timeout or the deadline has passed.
        case timedOut
        /// The calling task was cancelled, here or at the peer.
        case cancelled
        /// The request or its reply has more bytes than the peer takes.
        case tooLarge
        /// The peer has no handler for the type.
        case unknownRequest(String)
        /// The peer has another version of the wire, or of the type, or cannot read the payload.
        case incompatible(String)
        /// The peer's handler has thrown an error.
        case remote(code: Int32, String)
    }

    /// The kind of the end.
    public let reason: Reason

    /// Whether the peer's handler may have begun.
    public let mayHaveBegun: Bool

    /// Makes an error; for tests of code that handles it.
    public init(_ reason: Reason, mayHaveBegun: Bool) {
        self.reason = reason
        self.mayHaveBegun = mayHaveBegun
    }
}

extension ServiceError: CustomStringConvertible {
    /// One sentence, with the request's possible effect.
    public var description: String {
        "\(reason)" + (mayHaveBegun ? "; the request may have begun" : "; the request has not begun")
    }
}

extension ServiceError.Reason: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .peerDied(let pid): "process \(pid) has ended"
        case .connectionLost(let text): "the connection has ended: \(text)"
        case .serviceUnavailable(let text): "the service is unavailable: \(text)"
        case .refused(let text): "the service refuses: \(text)"
        case .timedOut: "the time is up"
        case .cancelled: "the request was cancelled"
        case .tooLarge: "the message is too large"
        case .unknownRequest(let name): "the peer does not know '\(name)'"
        case .incompatible(let text): "the peer is incompatible: \(text)"
        case .remote(let code, let text): "the handler failed (\(code)): \(text)"
        }
    }
}

/// An error that a handler throws for its requester, as ``ServiceError/Reason/remote(code:_:)``.
///
/// Any other error of a handler arrives with the code 0 and its description.
public struct ServiceFailure: Error, Sendable, Hashable {
    /// The program's own number.
    public var code: Int32

    /// The text; up to 1024 bytes arrive.
    public var text: String

    /// Makes a failure.
    public init(code: Int32, _ text: String) {
        (self.code, self.text) = (code, text)
    }
}

extension ServiceError {
    /// The public form of an own request's end.
    ///
    /// - Parameters:
    ///   - name: the name of the type.
    ///   - death: the peer's death, if the transport knows of it.
    init(_ failure: ConnectionMachine.Failure, of name: String, death: Reason?) {
        let reason: Reason =
            switch failure.reason {
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .unknownRequest: .unknownRequest(name)
            case .incompatible: .incompatible("another version of '\(name)'")
            case .remote(let failure): Self.reason(failure, name)
            case .ended(let ending): Self.reason(ending, death: death)
            }
        self.init(reason, mayHaveBegun: failure.mayHaveBegun)
    }

    static func reason(_ ending: ConnectionMachine.Ending, death: Reason?) -> Reason {
        switch ending {
        case .closed: .connectionLost("closed by this side")
        case .goodbye(let failure):
            switch failure.code {
            case .refused: .refused(failure.text)
            case .incompatible: .incompatible(failure.text)
            case .ending: .connectionLost("the peer has closed it")
            case .violation: .connectionLost("the peer has refused what this side sent: \(failure.text)")
            default: .connectionLost(failure.text)
            }
        case .violation(let violation): .connectionLost("the peer has broken the protocol: \(violation.rawValue)")
        case .tooSlow: .connectionLost("the peer does not answer")
        case .lost: death ?? .connectionLost("the peer has gone without a word")
        }
    }

    private static func reason(_ failure: WireFailure, _ name: String) -> Reason {
        switch failure.code {
        case .unknownRequest: .unknownRequest(name)
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .tooLarge: .tooLarge
        case .unreadable, .incompatible: .incompatible(failure.text)
        case .refused: .refused(failure.text)
        case .failed, .ending, .violation, .tooSlow: .remote(code: failure.number, failure.text)
        }
    }
}
