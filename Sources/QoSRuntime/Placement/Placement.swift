import QoSCore
import QoSKernel
import Synchronization

/// The processors on which the workers of the two high classes run, and the workers among them without a processor of
/// their own.
///
/// Each worker that is awake has a *seat* with a place. The place is a processor that no other worker has, or none
/// while all are taken. While a processor is free, no worker is without one. The binding of a worker's thread follows
/// its place. A worker that sleeps keeps the binding, and gets the same processor again if it is free.
///
/// Lock-free: a thread of a low class that wakes a high worker may lose its processor at any point, and no thread waits
/// for it.
/// `Docs/Protocols/placement.md` has the protocol.
///
/// Threading: any thread. Complexity: O(1) to wake and sleep; O(seats) if a worker without a processor gets one.
@safe
struct Placement: ~Copyable, Sendable {
    /// A closure that binds the thread of a seat to a processor, or to none in particular.
    typealias Bind = (_ seat: Int, _ processor: Int?) -> Void

    /// The number of processors that placement distinguishes. It does not use those beyond.
    static let mostProcessors = 1024

    private struct Seat: ~Copyable {
        /// The processor; or ``Placement/asleep``, ``Placement/seeking``.
        let place = Atomic<Int>(Placement.asleep)
        /// The last processor of the seat; -1 before the first.
        let last = Atomic<Int>(-1)
        /// The processor to which its thread was bound last; ``Placement/unbound``, ``Placement/unknown``.
        let bound = Atomic<Int>(Placement.unbound)
    }

    private static let asleep = -1
    private static let seeking = -2
    private static let unbound = -1
    private static let unknown = -2
    private static let words = mostProcessors / UInt64.bitWidth

    private let count: Int

    // SAFETY: allocated in `init`, freed in `deinit`, never replaced; only accessed atomically.
    private nonisolated(unsafe) let seats: UnsafeMutablePointer<Seat>

    /// The processors without a worker, and all processors in use; a bit each.
    // SAFETY: as `seats`.
    private nonisolated(unsafe) let free: UnsafeMutablePointer<Atomic<UInt64>>
    // SAFETY: as `seats`.
    private nonisolated(unsafe) let used: UnsafeMutablePointer<Atomic<UInt64>>

    /// One more than the highest word in use; 0 while nothing is placed.
    private let usedWords = Atomic<Int>(0)

    /// The number of seats that seek a processor, or more.
    private let seekers = Atomic<Int>(0)

    /// The number of times so far that a worker found no processor.
    private let shortages = Atomic<UInt64>(0)

    /// A processor that is taken only when no other is free; -1 for none.
    private let avoided = Atomic<Int>(-1)

    /// Makes seats for sleeping workers, and no processors.
    init(seats count: Int) {
        self.count = count
        unsafe seats = .allocate(capacity: count)
        for seat in 0..<count { unsafe (seats + seat).initialize(to: Seat()) }
        unsafe free = .allocate(capacity: Self.words)
        unsafe used = .allocate(capacity: Self.words)
        for word in 0..<Self.words {
            unsafe (free + word).initialize(to: Atomic(.max))
            unsafe (used + word).initialize(to: Atomic(0))
        }
    }

    deinit {
        unsafe seats.deinitialize(count: count)
        unsafe seats.deallocate()
        unsafe free.deinitialize(count: Self.words)
        unsafe free.deallocate()
        unsafe used.deinitialize(count: Self.words)
        unsafe used.deallocate()
    }

    // MARK: Workers

    /// Gives a processor, if one is free, to a worker that wakes up or is about to be woken. Changes nothing if the
    /// worker is awake.
    @inline(__always)
    func wake(_ seat: Int, bind: Bind) {
        guard usedWords.load(ordering: .relaxed) > 0, unsafe seats[seat].place.load(ordering: .relaxed) == Self.asleep
        else { return }
        place(seat, bind: bind)
    }

    private func place(_ seat: Int, bind: Bind) {
        if let processor = takeFree(preferring: unsafe seats[seat].last.load(ordering: .relaxed)) {
            guard change(seat, from: Self.asleep, to: processor) else { return giveBack(processor, bind: bind) }
            bindToPlace(seat, bind: bind)
            return settle(bind: bind)
        }
        // Counted first: a thread that frees a processor looks at the count before it looks at the seats.
        seekers.wrappingAdd(1, ordering: .sequentiallyConsistent)
        guard change(seat, from: Self.asleep, to: Self.seeking) else {
            seekers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            return
        }
        shortages.wrappingAdd(1, ordering: .relaxed)
        settle(bind: bind)
    }

    /// Takes the processor from a worker that goes to sleep, or that waits in the kernel. A worker without a processor
    /// gets it.
    @inline(__always)
    func sleep(_ seat: Int, bind: Bind) {
        if unsafe seats[seat].place.load(ordering: .relaxed) == Self.asleep { return }
        switch unsafe seats[seat].place.exchange(Self.asleep, ordering: .sequentiallyConsistent) {
        case Self.asleep: break
        case Self.seeking: seekers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        case let processor: giveBack(processor, bind: bind)
        }
    }

    /// Notes that the seat has a new thread, which is bound to nothing.
    func threadBegan(_ seat: Int) {
        unsafe seats[seat].bound.store(Self.unbound, ordering: .sequentiallyConsistent)
    }

    /// Returns the processor of a worker; `nil` for a worker that sleeps or has none.
    func processor(of seat: Int) -> Int? {
        let place = unsafe seats[seat].place.load(ordering: .sequentiallyConsistent)
        return place >= 0 ? place : nil
    }

    /// The number of times so far that a worker found no processor.
    var shortage: UInt64 { shortages.load(ordering: .relaxed) }

    // MARK: Processors

    /// Sets the processors in use. Workers on others lose theirs and may run anywhere, unless another one is free. One
    /// thread at a time.
    ///
    /// - Parameter anew: whether the threads' bindings were changed from outside, and have to be made again.
    func use(_ processors: CPUSet, anew: Bool = false, bind: Bind) {
        var highest = 0
        for word in 0..<Self.words {
            var bits: UInt64 = 0
            for bit in 0..<64 where processors.contains(word * 64 + bit) { bits |= 1 << UInt64(bit) }
            if bits != 0 { highest = word + 1 }
            unsafe used[word].store(bits, ordering: .sequentiallyConsistent)
        }
        usedWords.store(highest, ordering: .sequentiallyConsistent)
        for seat in 0..<count {
            if anew { unsafe seats[seat].bound.store(Self.unknown, ordering: .sequentiallyConsistent) }
            leaveUnused(seat, bind: bind)
        }
        settle(bind: bind)
    }

    private func leaveUnused(_ seat: Int, bind: Bind) {
        let place = unsafe seats[seat].place.load(ordering: .sequentiallyConsistent)
        if place >= 0, !isUsed(place) {
            seekers.wrappingAdd(1, ordering: .sequentiallyConsistent)
            if change(seat, from: place, to: Self.seeking) {
                setFree(place)
            } else {
                seekers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            }
        }
        let bound = unsafe seats[seat].bound.load(ordering: .sequentiallyConsistent)
        guard bound != Self.unbound, bound < 0 || !isUsed(bound) else { return }
        unsafe seats[seat].bound.store(Self.unbound, ordering: .sequentiallyConsistent)
        bind(seat, nil)
        guard processor(of: seat) != nil else { return }
        // The seat has another processor meanwhile, and may have been bound to this one before.
        unsafe seats[seat].bound.store(Self.unknown, ordering: .sequentiallyConsistent)
        rebind(seat, bind: bind)
    }

    /// Takes this processor last from now on, to leave it to others; `nil` ends that.
    func avoid(_ processor: Int?) {
        avoided.store(processor ?? -1, ordering: .relaxed)
    }

    // MARK: Steps

    /// Gives free processors to workers that seek one, until no processor is free or no worker seeks one.
    ///
    /// A thread that frees a processor or begins to seek one publishes its change, then comes here. So one of the two
    /// sees the other.
    private func settle(bind: Bind) {
        while seekers.load(ordering: .sequentiallyConsistent) > 0, let seat = firstSeeker,
            let processor = takeFree(preferring: unsafe seats[seat].last.load(ordering: .relaxed))
        {
            if change(seat, from: Self.seeking, to: processor) {
                seekers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                bindToPlace(seat, bind: bind)
            } else {
                setFree(processor)
            }
        }
    }

    private var firstSeeker: Int? {
        for seat in 0..<count where unsafe seats[seat].place.load(ordering: .sequentiallyConsistent) == Self.seeking {
            return seat
        }
        return nil
    }

    private func change(_ seat: Int, from old: Int, to new: Int) -> Bool {
        let changed = unsafe seats[seat].place.compareExchange(
            expected: old, desired: new, ordering: .sequentiallyConsistent
        ).exchanged
        if changed, new >= 0 { unsafe seats[seat].last.store(new, ordering: .relaxed) }
        return changed
    }

    /// Binds the thread of a seat as its place says, and gives up a processor that is no longer in use.
    ///
    /// The set in use may change meanwhile. The changing thread looks at the places afterwards. A thread that takes a
    /// processor looks at the set afterwards.
    private func bindToPlace(_ seat: Int, bind: Bind) {
        rebind(seat, bind: bind)
        if let processor = processor(of: seat), !isUsed(processor) { leaveUnused(seat, bind: bind) }
    }

    /// Binds the thread of a seat as its place says. The place may change meanwhile, so the thread that binds looks
    /// once more afterwards.
    private func rebind(_ seat: Int, bind: Bind) {
        var target = unsafe seats[seat].place.load(ordering: .sequentiallyConsistent)
        while target >= 0, unsafe seats[seat].bound.load(ordering: .sequentiallyConsistent) != target {
            unsafe seats[seat].bound.store(target, ordering: .sequentiallyConsistent)
            bind(seat, target)
            let latest = unsafe seats[seat].place.load(ordering: .sequentiallyConsistent)
            if latest == target { return }
            // Another thread may have bound it before this thread did.
            unsafe seats[seat].bound.store(Self.unknown, ordering: .sequentiallyConsistent)
            target = latest
        }
    }

    private func giveBack(_ processor: Int, bind: Bind) {
        setFree(processor)
        if seekers.load(ordering: .sequentiallyConsistent) > 0 { settle(bind: bind) }
    }

    private func setFree(_ processor: Int) {
        unsafe free[processor / 64].bitwiseOr(1 << UInt64(processor % 64), ordering: .sequentiallyConsistent)
    }

    private func isUsed(_ processor: Int) -> Bool {
        unsafe used[processor / 64].load(ordering: .sequentiallyConsistent) >> UInt64(processor % 64) & 1 == 1
    }

    private func takeFree(preferring preferred: Int) -> Int? {
        let avoided = self.avoided.load(ordering: .relaxed)
        if preferred >= 0, preferred != avoided, isUsed(preferred), take(preferred) { return preferred }
        for word in 0..<usedWords.load(ordering: .sequentiallyConsistent) {
            while true {
                var bits = unsafe free[word].load(ordering: .sequentiallyConsistent)
                unsafe bits &= used[word].load(ordering: .sequentiallyConsistent)
                if avoided >= 0, avoided / 64 == word { bits &= ~(1 << UInt64(avoided % 64)) }
                guard bits != 0 else { break }
                let processor = word * 64 + bits.trailingZeroBitCount
                if take(processor) { return processor }
            }
        }
        return avoided >= 0 && isUsed(avoided) && take(avoided) ? avoided : nil
    }

    private func take(_ processor: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(processor % 64)
        if unsafe free[processor / 64].load(ordering: .relaxed) & bit == 0 { return false }
        let (before, _) = unsafe free[processor / 64].bitwiseAnd(~bit, ordering: .sequentiallyConsistent)
        return before & bit != 0
    }
}
