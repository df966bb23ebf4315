import Synchronization

/// How often work of a scheduler was raised so far because something of a higher class waits for it.
///
/// Threading: any thread.
struct PromotionCounters: ~Copyable {
    /// Waiting tasks that were moved to a higher pool.
    let moved = Atomic<UInt64>(0)

    /// Running tasks.
    let running = Atomic<UInt64>(0)
}
