/// Names one raised fence; it is spent when the fence is lifted.
package struct FenceID: Sendable, Hashable {
    let slot: UInt8
    let generation: UInt32

    /// Its place among the fences, 0…31; no other fence has it before this one is lifted.
    package var place: Int { Int(slot) }

    /// The same in one word.
    package var code: UInt64 { UInt64(generation) << 8 | UInt64(slot) }

    /// The fence of a ``code``.
    package init(code: UInt64) {
        self.init(slot: UInt8(truncatingIfNeeded: code), generation: UInt32(truncatingIfNeeded: code >> 8))
    }

    init(slot: UInt8, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// Lower and equal work that stands aside at its next job boundary so that awaited work can end.
struct Fence: Sendable {
    let id: FenceID
    /// Classes up to and including this one are fenced.
    let ceiling: QoSClass
    /// The class of the worker that runs the awaited work, where it is known.
    let holder: QoSClass?
    /// When the fence turns from full to half.
    let halfAt: SchedulerInstant
    /// Whether half of the width is free again.
    var isHalf = false
}
