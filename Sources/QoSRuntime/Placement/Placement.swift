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
/// `Docs/Inside/Protocols/placement.md` has the protocol.
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

    private let seats: UnsafeSharedTable<Seat>

    /// The processors without a worker, and all processors in use; a bit each.
    private let free = UnsafeSharedTable<Atomic<UInt64>>(count: words)
    private let used = UnsafeSharedTable<Atomic<UInt64>>(count: words)

    /// One more than the highest word in use; 0 while nothing is placed.
    private let usedWords = Atomic<Int>(0)

    /// The number of seats that seek a processor, or more.
    private let seekers = Atomic<Int>(0)

    /// The number of times so far that a worker found no processor.
    private let shortages = Atomic<UInt64>(0)

    /// Whether the process has other processors than those in use. Then a worker that seeks one may run on them.
    private let leavesOthers = Atomic<Bool>(false)

    /// A processor that is taken only when no other is free; -1 for none.
    private let avoided = Atomic<Int>(-1)

    /// Makes seats for sleeping workers, and no processors.
    init(seats count: Int) {
        seats = UnsafeSharedTable(count: count)
        seats.fill { _, _ in Seat() }
        free.fill { _, _ in Atomic(.max) }
        used.fill { _, _ in Atomic(0) }
    }

    deinit {
        seats.free()
        free.free()
        used.free()
    }

    // MARK: Workers

    /// Gives a processor, if one is free, to a worker that wakes up or is about to be woken. Changes nothing if the
    /// worker is awake.
    ///
    /// - Parameter spared: a processor that the worker gets only if no other is free but the one to avoid.
    @inline(__always)
    func wake(_ seat: Int, sparing spared: Int? = nil, bind: Bind) {
        guard usedWords.load(ordering: .relaxed) > 0, seats[seat].place.load(ordering: .relaxed) == Self.asleep
        else { return }
        place(seat, sparing: spared, bind: bind)
    }

    private func place(_ seat: Int, sparing spared: Int?, bind: Bind) {
        if let processor = takeFree(preferring: seats[seat].last.load(ordering: .relaxed), sparing: spared ?? -1) {
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
        letRoam(seat, bind: bind)
    }

    /// Takes the processor from a worker that goes to sleep, or that waits in the kernel. A worker without a processor
    /// gets it.
    @inline(__always)
    func sleep(_ seat: Int, bind: Bind) {
        if seats[seat].place.load(ordering: .relaxed) == Self.asleep { return }
        switch seats[seat].place.exchange(Self.asleep, ordering: .sequentiallyConsistent) {
        case Self.asleep: break
        case Self.seeking: seekers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        case let processor: giveBack(processor, bind: bind)
        }
    }

    /// Notes that the seat has a new thread, which is bound to nothing.
    func threadBegan(_ seat: Int) {
        seats[seat].bound.store(Self.unbound, ordering: .sequentiallyConsistent)
    }

    /// Returns the processor of a worker; `nil` for a worker that sleeps or has none.
    func processor(of seat: Int) -> Int? {
        let place = seats[seat].place.load(ordering: .sequentiallyConsistent)
        return place >= 0 ? place : nil
    }

    /// Returns the processor that a worker has, or had last; -1 before the first.
    @inline(__always)
    func lastProcessor(of seat: Int) -> Int { seats[seat].last.load(ordering: .relaxed) }

    /// The number of times so far that a worker found no processor.
    var shortage: UInt64 { shortages.load(ordering: .relaxed) }

    // MARK: Processors

    /// Sets the processors in use. Workers on others lose theirs and may run anywhere, unless another one is free. One
    /// thread at a time.
    ///
    /// - Parameters:
    ///   - leavesOthers: whether the process has processors besides. Workers that seek one may run anywhere then.
    ///   - anew: whether the threads' bindings were changed from outside, and have to be made again.
    func use(_ processors: CPUSet, leavesOthers: Bool = false, anew: Bool = false, bind: Bind) {
        self.leavesOthers.store(leavesOthers, ordering: .sequentiallyConsistent)
        var highest = 0
        for word in 0..<Self.words {
            var bits: UInt64 = 0
            for bit in 0..<64 where processors.contains(word * 64 + bit) { bits |= 1 << UInt64(bit) }
            if bits != 0 { highest = word + 1 }
            used[word].store(bits, ordering: .sequentiallyConsistent)
        }
        usedWords.store(highest, ordering: .sequentiallyConsistent)
        for seat in seats.indices {
            if anew { seats[seat].bound.store(Self.unknown, ordering: .sequentiallyConsistent) }
            leaveUnused(seat, bind: bind)
            letRoam(seat, bind: bind)
        }
        settle(bind: bind)
    }

    private func leaveUnused(_ seat: Int, bind: Bind) {
        let place = seats[seat].place.load(ordering: .sequentiallyConsistent)
        if place >= 0, !isUsed(place) {
            seekers.wrappingAdd(1, ordering: .sequentiallyConsistent)
            if change(seat, from: place, to: Self.seeking) {
                setFree(place)
            } else {
                seekers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            }
        }
        let bound = seats[seat].bound.load(ordering: .sequentiallyConsistent)
        guard bound != Self.unbound, bound < 0 || !isUsed(bound) else { return }
        unbind(seat, bind: bind)
    }

    /// Lets a worker that seeks a processor run anywhere, if the process has others than those in use. One that stayed
    /// bound would wait for the worker beside it while the others may be idle.
    private func letRoam(_ seat: Int, bind: Bind) {
        guard leavesOthers.load(ordering: .sequentiallyConsistent),
            seats[seat].place.load(ordering: .sequentiallyConsistent) == Self.seeking,
            seats[seat].bound.load(ordering: .sequentiallyConsistent) != Self.unbound
        else { return }
        unbind(seat, bind: bind)
    }

    /// Lets the thread of a seat run anywhere, unless the seat has a processor or gets one meanwhile.
    private func unbind(_ seat: Int, bind: Bind) {
        seats[seat].bound.store(Self.unbound, ordering: .sequentiallyConsistent)
        bind(seat, nil)
        if seats[seat].bound.load(ordering: .sequentiallyConsistent) != Self.unbound {
            // Another thread has bound it meanwhile, perhaps before this one let it go.
            seats[seat].bound.store(Self.unknown, ordering: .sequentiallyConsistent)
        }
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
            let processor = takeFree(preferring: seats[seat].last.load(ordering: .relaxed))
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
        for seat in seats.indices where seats[seat].place.load(ordering: .sequentiallyConsistent) == Self.seeking {
            return seat
        }
        return nil
    }

    private func change(_ seat: Int, from old: Int, to new: Int) -> Bool {
        let changed = seats[seat].place.compareExchange(
            expected: old, desired: new, ordering: .sequentiallyConsistent
        ).exchanged
        if changed, new >= 0 { seats[seat].last.store(new, ordering: .relaxed) }
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
        var target = seats[seat].place.load(ordering: .sequentiallyConsistent)
        while target >= 0, seats[seat].bound.load(ordering: .sequentiallyConsistent) != target {
            seats[seat].bound.store(target, ordering: .sequentiallyConsistent)
            bind(seat, target)
            let latest = seats[seat].place.load(ordering: .sequentiallyConsistent)
            if latest == target { return }
            // Another thread may have bound it before this thread did.
            seats[seat].bound.store(Self.unknown, ordering: .sequentiallyConsistent)
            target = latest
        }
    }

    private func giveBack(_ processor: Int, bind: Bind) {
        setFree(processor)
        if seekers.load(ordering: .sequentiallyConsistent) > 0 { settle(bind: bind) }
    }

    private func setFree(_ processor: Int) {
        free[processor / 64].bitwiseOr(1 << UInt64(processor % 64), ordering: .sequentiallyConsistent)
    }

    private func isUsed(_ processor: Int) -> Bool {
        used[processor / 64].load(ordering: .sequentiallyConsistent) >> UInt64(processor % 64) & 1 == 1
    }

    /// Takes a free processor: the preferred one, else the lowest, else the spared one, else the one to avoid.
    private func takeFree(preferring preferred: Int, sparing spared: Int = -1) -> Int? {
        let avoided = self.avoided.load(ordering: .relaxed)
        if preferred != avoided, preferred != spared, takeUsed(preferred) { return preferred }
        if let lowest = takeLowest(but: avoided, and: spared) { return lowest }
        if spared != avoided, takeUsed(spared) { return spared }
        return takeUsed(avoided) ? avoided : nil
    }

    private func takeLowest(but first: Int, and second: Int) -> Int? {
        for word in 0..<usedWords.load(ordering: .sequentiallyConsistent) {
            while true {
                var bits = free[word].load(ordering: .sequentiallyConsistent)
                bits &= used[word].load(ordering: .sequentiallyConsistent)
                bits &= ~Self.bit(first, in: word) & ~Self.bit(second, in: word)
                guard bits != 0 else { break }
                let processor = word * 64 + bits.trailingZeroBitCount
                if take(processor) { return processor }
            }
        }
        return nil
    }

    /// The bit of a processor in a word; 0 if it is in another word, or there is no processor.
    private static func bit(_ processor: Int, in word: Int) -> UInt64 {
        processor >= 0 && processor / 64 == word ? 1 << UInt64(processor % 64) : 0
    }

    private func takeUsed(_ processor: Int) -> Bool {
        processor >= 0 && isUsed(processor) && take(processor)
    }

    private func take(_ processor: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(processor % 64)
        if free[processor / 64].load(ordering: .relaxed) & bit == 0 { return false }
        let (before, _) = free[processor / 64].bitwiseAnd(~bit, ordering: .sequentiallyConsistent)
        return before & bit != 0
    }
}
