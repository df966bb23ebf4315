public import QoSCore

/// A wait that the runtime alone cannot shorten (rule I5).
public struct InversionReport: Sendable, Hashable {
    /// The kind of such a wait.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// Higher work waits for lower work that could not be raised.
        case unresolvedInversion
        /// A thread of a pool sleeps in a lock. Meanwhile its class has one worker less. An asynchronous wait would
        /// avoid that.
        case blockedPoolThread
        /// Threads, tasks or items wait for one another in a circle, forever.
        case deadlock
    }

    /// One side of a wait.
    public struct Party: Sendable, Hashable {
        /// The name: a thread with its name and number, or a task with its name or address.
        public let name: String
        /// The level at which the party runs, as far as it is known.
        public let level: QoSLevel?
    }

    /// The kind of the wait.
    public let kind: Kind
    /// The waiting side.
    public let waiter: Party
    /// The resource for which the waiter waits.
    public let resource: String
    /// The side that holds the resource.
    public let holder: Party
    /// The time at which the wait began.
    public let since: ContinuousClock.Instant
    /// The reason why the runtime cannot help, and a remedy.
    public let explanation: String
}

extension InversionReport: CustomStringConvertible {
    /// Both sides in one line.
    public var description: String {
        "\(kind): \(waiter.name) waits for \(resource), which \(holder.name) has: \(explanation)"
    }
}
