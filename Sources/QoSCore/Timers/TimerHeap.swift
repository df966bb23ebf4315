/// Timers ordered by deadline, without their payloads: the order under ``TimerQueue``.
///
/// The heap names each timer by its *slot*, a small index. A slot is reused after its timer is gone, so the slots of `n`
/// timers are the places of a dense array. The owner keeps whatever belongs to a timer in such an array.
///
/// The structure is one binary heap, ordered by deadline. Every node also knows the earliest window end below it. So
/// the root answers both questions: which timer is due first, and which window ends first. A timer is cancelled in
/// place instead of being left behind.
///
/// Each timer takes 32 bytes in the heap and 16 bytes in its slot. Both are arrays that grow by doubling. An empty heap
/// gives large arrays back. At most 2³² − 1 timers at a time.
///
/// - Note: It is not generic, so its code exists once, and no access to an element looks up a type at run time.
@usableFromInline
package struct TimerHeap: Sendable {
    /// The heap.
    var nodes: [Node] = []

    /// The places of the timers' nodes. A node names its slot.
    var slots: [Slot] = []

    /// The head of the list of free slots, linked through ``Slot/position``.
    private(set) var firstFree = Slot.none

    private var lastSequence: UInt64 = 0

    /// The size above which an empty heap gives its arrays back.
    private static let keptSlots = 1024

    /// The number of nodes that ``nextPromptWake`` looks at.
    private static let promptNodes = 63

    /// Makes a heap without timers.
    @usableFromInline package init() {}

    /// The number of timers that neither fired nor were cancelled.
    ///
    /// - Complexity: O(1).
    @usableFromInline package var count: Int { nodes.count }

    /// Whether there is no timer.
    ///
    /// - Complexity: O(1).
    @usableFromInline package var isEmpty: Bool { nodes.isEmpty }

    /// The number of slots, free ones included. Every timer's slot is below it. 0 after the heap gave its arrays back.
    ///
    /// - Complexity: O(1).
    @usableFromInline package var slotCount: Int { slots.count }

    /// The end of the window that ends first; `nil` without timers.
    ///
    /// - Complexity: O(1).
    @usableFromInline package var nextWake: UInt64? { nodes.first?.earliestEnd }

    /// The latest deadline that timers can share without missing the window that ends first; `nil` without timers.
    ///
    /// The search ends after 63 nodes.
    ///
    /// - Complexity: O(1).
    @usableFromInline package var nextPromptWake: UInt64? {
        guard let first = nodes.first else { return nil }
        // Members of the group have their parents in it, so those in front of the array are most of a small group.
        var latest = first.deadline
        for node in nodes.prefix(Self.promptNodes) where node.deadline <= first.earliestEnd {
            latest = max(latest, node.deadline)
        }
        return latest
    }

    /// The deadline of the timer that is due first; `nil` without timers.
    ///
    /// - Complexity: O(1).
    @usableFromInline package var nextDeadline: UInt64? { nodes.first?.deadline }

    /// Adds a timer.
    ///
    /// - Parameters:
    ///   - deadline: The earliest moment at which the timer may fire, in nanoseconds; may be in the past.
    ///   - tolerance: The length of the window, in nanoseconds. A window that would end beyond `UInt64.max` ends there.
    /// - Returns: The identity, with the slot. The slot is free, or the next one after all others.
    /// - Complexity: O(log n).
    @usableFromInline package mutating func insert(deadline: UInt64, tolerance: UInt64) -> TimerID {
        lastSequence += 1
        let slot = takeSlot(Slot(sequence: lastSequence, position: Slot.none))
        let (end, isBeyond) = deadline.addingReportingOverflow(tolerance)
        add(Node(deadline: deadline, end: isBeyond ? .max : end, slot: slot))
        return TimerID(slot: slot, sequence: lastSequence)
    }

    /// Cancels a timer.
    ///
    /// - Returns: Its slot, which is free now; `nil` if the timer fired or was cancelled already.
    /// - Complexity: O(log n).
    @usableFromInline package mutating func cancel(_ id: TimerID) -> Int? {
        let slot = Int(id.slot)
        guard slot < slots.count, slots[slot].sequence == id.sequence else { return nil }
        remove(at: Int(slots[slot].position))
        giveBack(id.slot)
        return slot
    }

    /// Returns the identity of the timer of a slot; `nil` for a free slot.
    ///
    /// - Complexity: O(1).
    @usableFromInline package func id(ofSlot slot: Int) -> TimerID? {
        slots[slot].sequence == 0 ? nil : TimerID(slot: UInt32(slot), sequence: slots[slot].sequence)
    }

    /// Takes the timer with the earliest deadline, if that is not after `now`.
    ///
    /// Timers come in the order of their deadlines, those with the same deadline in the order of insertion.
    ///
    /// - Parameter now: The present, in nanoseconds of the clock of the deadlines.
    /// - Returns: The timer's slot, which is free now; `nil` if none is due.
    /// - Complexity: O(log n).
    @usableFromInline package mutating func popExpired(now: UInt64) -> Int? {
        guard let first = nodes.first, first.deadline <= now else { return nil }
        remove(at: 0)
        giveBack(first.slot)
        return Int(first.slot)
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

    private mutating func giveBack(_ index: UInt32) {
        if nodes.isEmpty, slots.count > Self.keptSlots {
            nodes = []
            slots = []
            firstFree = Slot.none
        } else {
            slots[Int(index)] = Slot(sequence: 0, position: firstFree)
            firstFree = index
        }
    }
}

/// The identity of one timer of one ``TimerHeap`` or ``TimerQueue``, for cancelling it.
///
/// A heap never reuses an identity. After its timer fired or was cancelled, an identity finds nothing. It has no
/// meaning in another heap.
@usableFromInline
package struct TimerID: Sendable, Hashable {
    /// The slot of the timer. It is reused after the timer is gone.
    @usableFromInline let slot: UInt32

    /// The number of the insertion, counted from 1.
    let sequence: UInt64
}
