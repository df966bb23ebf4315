/// The identity of one raised fence. It is spent when the fence is lifted.
package struct FenceID: Sendable, Hashable {
    let slot: UInt8
    let generation: UInt32

    /// The place among the fences, 0…31. No other fence has it before this one is lifted.
    package var place: Int { Int(slot) }

    /// The identity in one word.
    package var code: UInt64 { UInt64(generation) << 8 | UInt64(slot) }

    /// Makes the fence of a ``code``.
    package init(code: UInt64) {
        self.init(slot: UInt8(truncatingIfNeeded: code), generation: UInt32(truncatingIfNeeded: code >> 8))
    }

    init(slot: UInt8, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// A stop for classes up to a ceiling: their workers stand aside at the next job boundary, so that awaited work can
/// end.
struct Fence: Sendable {
    let id: FenceID
    /// The highest fenced class.
    let ceiling: QoSClass
    /// The class of the worker that runs the awaited work; `nil` if it is not known.
    let holder: QoSClass?
    /// The time at which the fence turns from full to half.
    let halfAt: SchedulerInstant
    /// Whether half of the width is free again.
    var isHalf = false
}
