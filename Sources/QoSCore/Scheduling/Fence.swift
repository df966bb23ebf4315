/// Names one raised fence; it is spent when the fence is lifted.
package struct FenceID: Sendable, Hashable {
    let slot: UInt8
    let generation: UInt32
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
