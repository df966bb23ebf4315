import Synchronization

/// A demand of other threads that the loop goes on looking.
///
/// A thread makes the demand after it has published the reason. So when the loop withdraws the demand, one of the two
/// sees the other: the thread finds no demand and makes it again, or the loop sees the reason. That needs one order of
/// four accesses to two words: all are sequentially consistent. Acquire and release order only what goes through one
/// word (`Docs/Inside/Protocols/wake-park.md`).
///
/// Threading: any thread makes it; the loop's thread withdraws it.
struct LoopRequest: ~Copyable {
    private let flag = Atomic<Bool>(false)

    /// Whether the demand is made, for the loop, which was woken for it, and for a thread that has no reason to give.
    @inline(__always)
    var isMade: Bool { flag.load(ordering: .relaxed) }

    /// Makes the demand.
    ///
    /// - Returns: whether there was none. The caller then wakes the loop.
    @inline(__always)
    func make() -> Bool {
        if flag.load(ordering: .sequentiallyConsistent) { return false }
        flag.store(true, ordering: .sequentiallyConsistent)
        return true
    }

    /// Withdraws the demand unless there is a reason for it.
    ///
    /// - Parameter hasReason: looks for a reason, up to twice; by sequentially consistent loads.
    /// - Returns: whether the demand was withdrawn.
    func withdraw(unless hasReason: () -> Bool) -> Bool {
        if hasReason() { return false }
        flag.store(false, ordering: .sequentiallyConsistent)
        guard hasReason() else { return true }
        flag.store(true, ordering: .sequentiallyConsistent)
        return false
    }
}
