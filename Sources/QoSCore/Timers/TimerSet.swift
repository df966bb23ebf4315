/// Prompt timers and others, each kind in a queue of its own (rule S6).
///
/// A driver sleeps until ``nextWake`` and then takes ``popExpired(now:)`` until it is empty. Due timers of both kinds
/// fire in that one wake-up.
///
/// - Complexity: that of ``TimerQueue``.
@usableFromInline
package struct TimerSet<Payload> {
    /// The identity of one timer of one set, for cancelling it. It is never reused.
    @usableFromInline
    package struct Name: Sendable, Hashable {
        @usableFromInline let id: TimerID
        @usableFromInline let isPrompt: Bool

        @inlinable
        init(id: TimerID, isPrompt: Bool) {
            self.id = id
            self.isPrompt = isPrompt
        }
    }

    @usableFromInline var prompt = TimerQueue<Payload>()
    @usableFromInline var patient = TimerQueue<Payload>()

    /// Makes a set without timers.
    @inlinable
    package init() {}

    /// The number of timers that neither fired nor were cancelled.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var count: Int { prompt.count + patient.count }

    /// Whether there is no timer.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var isEmpty: Bool { prompt.isEmpty && patient.isEmpty }

    /// The moment at which the driver must look next; `nil` without timers.
    ///
    /// It is no later than the window that ends first: the latest deadline that prompt timers can share, or the end of
    /// the others' window.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var nextWake: UInt64? {
        guard let first = prompt.nextPromptWake else { return patient.nextWake }
        return patient.nextWake.map { min($0, first) } ?? first
    }

    /// The deadline of the timer that is due first; `nil` without timers.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var nextDeadline: UInt64? {
        guard let first = prompt.nextDeadline else { return patient.nextDeadline }
        return patient.nextDeadline.map { min($0, first) } ?? first
    }

    /// Adds a timer.
    ///
    /// - Returns: The identity for ``cancel(_:)``.
    /// - Complexity: O(log n).
    @discardableResult @inlinable
    package mutating func insert(_ window: TimerWindow, _ payload: Payload) -> Name {
        let id =
            if window.isPrompt {
                prompt.insert(deadline: window.deadline, tolerance: window.tolerance, payload)
            } else {
                patient.insert(deadline: window.deadline, tolerance: window.tolerance, payload)
            }
        return Name(id: id, isPrompt: window.isPrompt)
    }

    /// Cancels a timer.
    ///
    /// - Returns: Its payload; `nil` if it fired or was cancelled already.
    /// - Complexity: O(log n).
    @inlinable
    package mutating func cancel(_ name: Name) -> Payload? {
        name.isPrompt ? prompt.cancel(name.id) : patient.cancel(name.id)
    }

    /// Cancels all timers whose payloads satisfy a condition, and returns their payloads.
    ///
    /// - Complexity: O(n + k log n) for k cancelled timers.
    @inlinable
    package mutating func cancelAll(where isObsolete: (Payload) -> Bool) -> [Payload] {
        prompt.cancelAll(where: isObsolete) + patient.cancelAll(where: isObsolete)
    }

    /// Takes the timer with the earliest deadline, if that is not after `now`.
    ///
    /// - Parameter now: The present, in nanoseconds of the clock of the deadlines.
    /// - Returns: The timer's payload; `nil` if none is due.
    /// - Complexity: O(log n).
    @inlinable
    package mutating func popExpired(now: UInt64) -> Payload? {
        guard let first = prompt.nextDeadline else { return patient.popExpired(now: now) }
        if let other = patient.nextDeadline, other < first { return patient.popExpired(now: now) }
        return prompt.popExpired(now: now)
    }
}

extension TimerSet: Sendable where Payload: Sendable {}
