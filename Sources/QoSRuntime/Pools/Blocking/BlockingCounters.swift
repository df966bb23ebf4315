import Synchronization

/// The number of blocked workers of a scheduler, and the numbers of declared and detected cases so far.
///
/// Threading: any thread.
struct BlockingCounters: ~Copyable {
    /// The number of workers whose threads wait in the kernel with their job unfinished, at this moment.
    let now = Atomic<Int>(0)

    /// The number of declarations by jobs, and the number of cases that the loop detected. A case may count in both.
    let declared = Atomic<UInt64>(0)
    let detected = Atomic<UInt64>(0)

    /// The number of blocked workers for which no other could stand in, because too many already did.
    let uncompensated = Atomic<UInt64>(0)

    /// The number of jobs that took longer than their class should.
    let stalls = Atomic<UInt64>(0)

    /// The sum of both.
    var total: UInt64 { declared.load(ordering: .relaxed) &+ detected.load(ordering: .relaxed) }

    func began(_ reason: BlockingReason) {
        now.wrappingAdd(1, ordering: .relaxed)
        if reason == .detected { detected.wrappingAdd(1, ordering: .relaxed) }
    }

    func ended() {
        now.wrappingSubtract(1, ordering: .relaxed)
    }
}
