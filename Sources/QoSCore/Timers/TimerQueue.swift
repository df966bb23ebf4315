/// Timers ordered by deadline, each with a window in which it may fire.
///
/// A timer's window is `[deadline, deadline + tolerance]`, in nanoseconds of one monotonic clock, which the caller
/// reads. A window that would end beyond `UInt64.max` ends there.
///
/// A driver sleeps until ``nextWake`` and then takes ``popExpired(now:)`` until it is empty. ``nextWake`` is the *end*
/// of the window that ends first. So all timers whose windows contain that moment fire in one wake-up (rule S6). None
/// fires before its deadline, and the queue makes none late.
///
/// The structure is one binary heap, ordered by deadline. Every node also knows the earliest window end below it. So
/// the root answers both questions: which timer is due first, and which window ends first. A timer is cancelled in
/// place instead of being left behind.
///
/// Each timer takes 32 bytes in the heap and 16 bytes plus an optional payload in a slot: 56 bytes with a reference as
/// payload. Both are arrays that grow by doubling. An empty queue gives large arrays back. At most 2³² − 1 timers at a
/// time.
package struct TimerQueue<Payload> {
    /// The heap.
    var nodes: [Node] = []

    /// The data of timers that do not take part in the order. A node names its slot.
    var slots: [Slot] = []

    /// The head of the list of free slots, linked through ``Slot/position``.
    private var firstFree = Slot.none

    private var lastSequence: UInt64 = 0

    /// The size above which an empty queue gives its arrays back.
    private static var keptSlots: Int { 1024 }

    /// Makes a queue without timers.
    package init() {}

    /// The number of timers that neither fired nor were cancelled.
    ///
    /// - Complexity: O(1).
    package var count: Int { nodes.count }

    /// Whether there is no timer.
    ///
    /// - Complexity: O(1).
    package var isEmpty: Bool { nodes.isEmpty }

    /// The latest moment at which the driver must look again, so that no window is missed; `nil` without timers.
    ///
    /// - Complexity: O(1).
    package var nextWake: UInt64? { nodes.first?.earliestEnd }

    /// The latest deadline that timers can share without missing the window that ends first; `nil` without timers.
    ///
    /// A driver that sleeps until then, instead of until ``nextWake``, fires a single timer at its deadline. The search
    /// ends after 63 nodes, so timers of a larger group may take several wake-ups.
    ///
    /// - Complexity: O(1).
    package var nextPromptWake: UInt64? {
        guard let first = nodes.first else { return nil }
        // Members of the group have their parents in it, so those in front of the array are most of a small group.
        return nodes.prefix(Self.promptNodes).reduce(first.deadline) { latest, node in
            node.deadline <= first.earliestEnd ? max(latest, node.deadline) : latest
        }
    }

    private static var promptNodes: Int { 63 }

    /// The deadline of the timer that is due first; `nil` without timers.
    ///
    /// - Complexity: O(1).
    package var nextDeadline: UInt64? { nodes.first?.deadline }

    /// Adds a timer.
    ///
    /// - Parameters:
    ///   - deadline: The earliest moment at which the timer may fire, in nanoseconds; may be in the past.
    ///   - tolerance: The length of the window, in nanoseconds.
    ///   - payload: The value that ``popExpired(now:)`` or ``cancel(_:)`` returns.
    /// - Returns: The identity for ``cancel(_:)``.
    /// - Complexity: O(log n).
    @discardableResult
    package mutating func insert(deadline: UInt64, tolerance: UInt64, _ payload: Payload) -> TimerID {
        lastSequence += 1
        let slot = takeSlot(Slot(sequence: lastSequence, position: Slot.none, payload: payload))
        let (end, isBeyond) = deadline.addingReportingOverflow(tolerance)
        add(Node(deadline: deadline, end: isBeyond ? .max : end, slot: slot))
        return TimerID(slot: slot, sequence: lastSequence)
    }

    /// Cancels a timer.
    ///
    /// - Returns: Its payload; `nil` if it fired or was cancelled already.
    /// - Complexity: O(log n).
    package mutating func cancel(_ id: TimerID) -> Payload? {
        let slot = Int(id.slot)
        guard slot < slots.count, slots[slot].sequence == id.sequence else { return nil }
        remove(at: Int(slots[slot].position))
        return giveBack(id.slot)
    }

    /// Takes the timer with the earliest deadline, if that is not after `now`.
    ///
    /// Timers come in the order of their deadlines, those with the same deadline in the order of insertion. A timer
    /// whose deadline is after `now` is never returned, so a clock that is read early does no harm.
    ///
    /// - Parameter now: The present, in nanoseconds of the clock of the deadlines.
    /// - Returns: The timer's payload; `nil` if none is due.
    /// - Complexity: O(log n).
    package mutating func popExpired(now: UInt64) -> Payload? {
        guard let first = nodes.first, first.deadline <= now else { return nil }
        remove(at: 0)
        return giveBack(first.slot)
    }

    private mutating func takeSlot(_ slot: Slot) -> UInt32 {
        guard firstFree != Slot.none else {
            slots.append(slot)
            return UInt32(slots.count - 1)
        }
        let index = firstFree
        firstFree = slots[Int(index)].position
        slots[Int(index)] = slot
        return index
    }

    private mutating func giveBack(_ index: UInt32) -> Payload? {
        let payload = slots[Int(index)].payload
        if nodes.isEmpty, slots.count > Self.keptSlots {
            nodes = []
            slots = []
            firstFree = Slot.none
        } else {
            slots[Int(index)] = Slot(sequence: 0, position: firstFree, payload: nil)
            firstFree = index
        }
        return payload
    }
}

extension TimerQueue: Sendable where Payload: Sendable {}

/// The identity of one timer of one ``TimerQueue``, for cancelling it.
///
/// A queue never reuses an identity. After its timer fired or was cancelled, an identity finds nothing. It has no
/// meaning in another queue.
package struct TimerID: Sendable, Hashable {
    /// The place of the timer in the queue. It is reused after the timer is gone.
    let slot: UInt32

    /// The number of the insertion, counted from 1.
    let sequence: UInt64
}
