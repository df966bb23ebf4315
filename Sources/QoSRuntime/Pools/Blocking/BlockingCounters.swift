import Synchronization

/// How many workers of a scheduler are blocked, and how often that was said and seen so far.
///
/// Threading: any thread.
struct BlockingCounters: ~Copyable {
    /// Workers whose threads wait in the kernel with their job unfinished, at this moment.
    let now = Atomic<Int>(0)

    /// How often a job said so, and how often it was seen.
    let declared = Atomic<UInt64>(0)
    let detected = Atomic<UInt64>(0)

    /// How often nobody could stand in for a blocked worker, because too many did already.
    let uncompensated = Atomic<UInt64>(0)

    /// How often a job took longer than its class should.
    let stalls = Atomic<UInt64>(0)

    func began(_ reason: BlockingReason) {
        now.wrappingAdd(1, ordering: .relaxed)
        switch reason {
        case .declared: declared.wrappingAdd(1, ordering: .relaxed)
        case .detected: detected.wrappingAdd(1, ordering: .relaxed)
        }
    }

    func ended() {
        now.wrappingSubtract(1, ordering: .relaxed)
    }
}
