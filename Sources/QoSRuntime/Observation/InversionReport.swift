public import QoSCore

/// Something that waits and that nothing can be done about by the runtime alone (rule I5).
public struct InversionReport: Sendable, Hashable {
    /// What was found.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// Higher work waits for lower work that could not be raised.
        case unresolvedInversion
        /// A thread of a pool sleeps in a lock: its class has a worker less meanwhile. Asynchronous waiting would not do that.
        case blockedPoolThread
        /// Some wait for one another, for ever.
        case deadlock
    }

    /// One side of a wait.
    public struct Party: Sendable, Hashable {
        /// What it is called: a thread with its name and number, a task with its name or address.
        public let name: String
        /// What it runs at, as far as that is known.
        public let level: QoSLevel?
    }

    /// What was found.
    public let kind: Kind
    /// Who waits.
    public let waiter: Party
    /// What it waits for.
    public let resource: String
    /// Who has that.
    public let holder: Party
    /// When the wait began.
    public let since: ContinuousClock.Instant
    /// Why nothing can be done, and what would help.
    public let explanation: String
}

extension InversionReport: CustomStringConvertible {
    /// Both sides in one line.
    public var description: String {
        "\(kind): \(waiter.name) waits for \(resource), which \(holder.name) has: \(explanation)"
    }
}
