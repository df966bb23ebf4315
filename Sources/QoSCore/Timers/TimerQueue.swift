/// Timers ordered by deadline, each with a payload and a window in which it may fire.
///
/// A timer's window is `[deadline, deadline + tolerance]`, in nanoseconds of one monotonic clock, which the caller
/// reads. A window that would end beyond `UInt64.max` ends there.
///
/// A driver sleeps until ``nextWake`` and then takes ``popExpired(now:)`` until it is empty. ``nextWake`` is the *end*
/// of the window that ends first. So all timers whose windows contain that moment fire in one wake-up (rule S6). None
/// fires before its deadline, and the queue makes none late.
///
/// A ``TimerHeap`` keeps the order, and an array keeps the payloads, each at the slot of its timer. Only that array is
/// generic, and its users in other modules have code for their own payload
/// (`Docs/Inside/Decisions/0026-inlined-locks.md`).
///
/// Each timer takes 48 bytes in the heap and an optional payload: 56 bytes with a reference as payload. All arrays grow
/// by doubling. An empty queue gives large arrays back. At most 2³² − 1 timers at a time.
@usableFromInline
package struct TimerQueue<Payload> {
    @usableFromInline var heap = TimerHeap()

    /// The payloads of the timers, each at its timer's slot; `nil` in a free slot.
    @usableFromInline var payloads: [Payload?] = []

    /// Makes a queue without timers.
    @inlinable
    package init() {}

    /// The number of timers that neither fired nor were cancelled.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var count: Int { heap.count }

    /// Whether there is no timer.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var isEmpty: Bool { heap.isEmpty }

    /// The latest moment at which the driver must look again, so that no window is missed; `nil` without timers.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var nextWake: UInt64? { heap.nextWake }

    /// The latest deadline that timers can share without missing the window that ends first; `nil` without timers.
    ///
    /// A driver that sleeps until then, instead of until ``nextWake``, fires a single timer at its deadline. The search
    /// ends after 63 timers, so those of a larger group may take several wake-ups.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var nextPromptWake: UInt64? { heap.nextPromptWake }

    /// The deadline of the timer that is due first; `nil` without timers.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var nextDeadline: UInt64? { heap.nextDeadline }

    /// Adds a timer.
    ///
    /// - Parameters:
    ///   - deadline: The earliest moment at which the timer may fire, in nanoseconds; may be in the past.
    ///   - tolerance: The length of the window, in nanoseconds.
    ///   - payload: The value that ``popExpired(now:)`` or ``cancel(_:)`` returns.
    /// - Returns: The identity for ``cancel(_:)``.
    /// - Complexity: O(log n).
    @discardableResult @inlinable
    package mutating func insert(deadline: UInt64, tolerance: UInt64, _ payload: Payload) -> TimerID {
        let id = heap.insert(deadline: deadline, tolerance: tolerance)
        let slot = Int(id.slot)
        if slot == payloads.count {
            payloads.append(payload)
        } else {
            payloads[slot] = payload
        }
        return id
    }

    /// Cancels a timer.
    ///
    /// - Returns: Its payload; `nil` if it fired or was cancelled already.
    /// - Complexity: O(log n).
    @inlinable
    package mutating func cancel(_ id: TimerID) -> Payload? {
        guard let slot = heap.cancel(id) else { return nil }
        return takePayload(at: slot)
    }

    /// Takes the timer with the earliest deadline, if that is not after `now`.
    ///
    /// Timers come in the order of their deadlines, those with the same deadline in the order of insertion. A timer
    /// whose deadline is after `now` is never returned, so a clock that is read early does no harm.
    ///
    /// - Parameter now: The present, in nanoseconds of the clock of the deadlines.
    /// - Returns: The timer's payload; `nil` if none is due.
    /// - Complexity: O(log n).
    @inlinable
    package mutating func popExpired(now: UInt64) -> Payload? {
        guard let slot = heap.popExpired(now: now) else { return nil }
        return takePayload(at: slot)
    }

    /// Cancels all timers whose payloads satisfy a condition.
    ///
    /// - Returns: Their payloads.
    /// - Complexity: O(n + k log n) for k cancelled timers.
    @inlinable
    package mutating func cancelAll(where isObsolete: (Payload) -> Bool) -> [Payload] {
        let obsolete = payloads.indices.filter { slot in payloads[slot].map(isObsolete) ?? false }
            .compactMap { heap.id(ofSlot: $0) }
        return obsolete.compactMap { cancel($0) }
    }

    /// Takes the payload out of a slot that the heap has just freed.
    @inlinable
    mutating func takePayload(at slot: Int) -> Payload? {
        let payload = payloads[slot].take()
        // The heap gave its slots back, and begins with the first one again.
        if heap.slotCount == 0 { payloads = [] }
        return payload
    }
}

extension TimerQueue: Sendable where Payload: Sendable {}
