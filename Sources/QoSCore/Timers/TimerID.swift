/// Names one timer of one ``TimerQueue``, for cancelling it.
///
/// An identifier is never used twice by the same queue: one that is kept after its timer fired or was cancelled finds
/// nothing. It means nothing to another queue.
public struct TimerID: Sendable, Hashable {
    /// Where the queue keeps the timer; used again after the timer is gone.
    let slot: UInt32

    /// The number of the insertion, counted from 1.
    let sequence: UInt64
}
