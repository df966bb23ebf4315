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
