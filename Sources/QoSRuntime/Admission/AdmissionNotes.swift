import QoSCore
import QoSKernel
import Synchronization

/// What threads that do not wait for admission's lock have to say while another thread holds it.
///
/// Notes add up: of a class only the sum of what came and went is kept, so there is no number of them that does not fit, and the
/// thread that takes them has five classes to look at, however many notes there were.
///
/// Threading: any thread leaves notes, the thread that holds the lock takes them; lock-free.
struct AdmissionNotes: ~Copyable {
    /// What there is a note of; one bit for each class.
    enum Kind: Int, CaseIterable {
        /// Workers came or went.
        case counted
        /// A worker went because it found nothing to do.
        case idle
        /// The class asks for one more worker.
        case wanted
        /// The class has another width limit.
        case limit
    }

    /// Which classes have notes of which kind, eight bits for each kind; above them, whether the number of processors has changed.
    private let pending = Atomic<UInt64>(0)
    private static let coresBit: UInt64 = 1 << 32

    private let counts = InlineArray<5, Atomic<Int>> { _ in Atomic(0) }
    private let limits = InlineArray<5, Atomic<Int>> { _ in Atomic(.max) }
    private let limitTimes = InlineArray<5, Atomic<UInt64>> { _ in Atomic(0) }
    private let cores = Atomic<Int>(1)

    /// Fences to lift, by slot: no slot is used again before its fence is lifted.
    private let lifted = Atomic<UInt32>(0)
    private let liftedFences = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }

    var isEmpty: Bool {
        pending.load(ordering: .sequentiallyConsistent) == 0 && lifted.load(ordering: .sequentiallyConsistent) == 0
    }

    // MARK: Leaving

    func leave(_ kind: Kind, rank: Int) {
        pending.bitwiseOr(Taken.bit(kind, rank), ordering: .sequentiallyConsistent)
    }

    /// Workers of a class came, or went.
    func leave(count change: Int, rank: Int) {
        counts[rank].wrappingAdd(change, ordering: .sequentiallyConsistent)
        leave(.counted, rank: rank)
    }

    func leave(lifted fence: FenceID) {
        liftedFences[fence.place].store(fence.code, ordering: .sequentiallyConsistent)
        lifted.bitwiseOr(1 << UInt32(fence.place), ordering: .sequentiallyConsistent)
    }

    /// Sets the limit that a class is to have; whether as a note is said by ``leave(_:rank:)``.
    func set(limit: Int, rank: Int, at time: UInt64) {
        limitTimes[rank].store(time, ordering: .sequentiallyConsistent)
        limits[rank].store(limit, ordering: .sequentiallyConsistent)
    }

    /// The limit that a class has, or is about to have, and when it was set.
    func limit(rank: Int) -> (limit: Int, since: UInt64) {
        (limits[rank].load(ordering: .sequentiallyConsistent), limitTimes[rank].load(ordering: .sequentiallyConsistent))
    }

    func leave(cores: Int) {
        self.cores.store(cores, ordering: .sequentiallyConsistent)
        pending.bitwiseOr(Self.coresBit, ordering: .sequentiallyConsistent)
    }

    // MARK: Taking

    /// Takes the notes. A change that comes meanwhile is taken now, or leaves a note that says nothing new.
    func take() -> Taken {
        let bits = pending.exchange(0, ordering: .sequentiallyConsistent)
        var taken = Taken(bits: bits)
        for rank in 0..<5 where taken.has(.counted, rank: rank) {
            taken.counts[rank] = counts[rank].exchange(0, ordering: .sequentiallyConsistent)
        }
        if bits & Self.coresBit != 0 { taken.cores = cores.load(ordering: .sequentiallyConsistent) }
        return taken
    }

    /// Takes the fences that are to be lifted.
    func takeLifted(_ body: (FenceID) -> Void) {
        var slots = lifted.exchange(0, ordering: .sequentiallyConsistent)
        while slots != 0 {
            body(FenceID(code: liftedFences[slots.trailingZeroBitCount].load(ordering: .sequentiallyConsistent)))
            slots &= slots - 1
        }
    }

    /// Notes that were taken.
    struct Taken {
        fileprivate let bits: UInt64

        /// By how many workers each class has more.
        fileprivate(set) var counts = InlineArray<5, Int>(repeating: 0)

        /// How many processors there are; `nil` without a change.
        fileprivate(set) var cores: Int?

        fileprivate init(bits: UInt64) { self.bits = bits }

        fileprivate static func bit(_ kind: Kind, _ rank: Int) -> UInt64 { 1 << UInt64(kind.rawValue * 8 + rank) }

        func has(_ kind: Kind, rank: Int) -> Bool { bits & Self.bit(kind, rank) != 0 }

        /// Whether the class came, went or asked.
        func hasEvents(rank: Int) -> Bool {
            has(.counted, rank: rank) || has(.idle, rank: rank) || has(.wanted, rank: rank)
        }
    }
}
