import QoSCore
import QoSKernel
import Synchronization

/// The notes of threads that do not wait for admission's lock while another thread holds it.
///
/// Notes add up: for each class, only the sum of the workers that came and went is kept. So there is always room for
/// one more note. The thread that takes them looks at five classes, however many notes there were.
///
/// Threading: any thread leaves notes; only the thread that holds the lock takes them. Lock-free.
struct AdmissionNotes: ~Copyable {
    /// The kind of a note; one bit for each class.
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

    /// The classes with notes, eight bits for each kind. The bits above say whether the number of processors has
    /// changed, or the set of classes that the budget holds.
    private let pending = Atomic<UInt64>(0)
    private static let coresBit: UInt64 = 1 << 32
    private static let heldBit: UInt64 = 1 << 33

    private let counts = InlineArray<5, Atomic<Int>> { _ in Atomic(0) }
    private let limits = InlineArray<5, Atomic<Int>> { _ in Atomic(.max) }
    private let limitTimes = InlineArray<5, Atomic<UInt64>> { _ in Atomic(0) }
    private let cores = Atomic<Int>(1)
    private let held = Atomic<UInt8>(0)

    /// The fences to lift, by slot. No slot is used again before its fence is lifted.
    private let lifted = Atomic<UInt32>(0)
    private let liftedFences = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }

    var isEmpty: Bool {
        pending.load(ordering: .sequentiallyConsistent) == 0 && lifted.load(ordering: .sequentiallyConsistent) == 0
    }

    // MARK: Leaving

    func leave(_ kind: Kind, rank: Int) {
        pending.bitwiseOr(Taken.bit(kind, rank), ordering: .sequentiallyConsistent)
    }

    /// Notes that workers of a class came, or went.
    func leave(count change: Int, rank: Int) {
        counts[rank].wrappingAdd(change, ordering: .sequentiallyConsistent)
        leave(.counted, rank: rank)
    }

    func leave(lifted fence: FenceID) {
        liftedFences[fence.place].store(fence.code, ordering: .sequentiallyConsistent)
        lifted.bitwiseOr(1 << UInt32(fence.place), ordering: .sequentiallyConsistent)
    }

    /// Sets the limit of a class. ``leave(_:rank:)`` turns it into a note.
    func set(limit: Int, rank: Int, at time: UInt64) {
        limitTimes[rank].store(time, ordering: .sequentiallyConsistent)
        limits[rank].store(limit, ordering: .sequentiallyConsistent)
    }

    /// Returns the limit that a class has or is about to have, and the time at which it was set.
    func limit(rank: Int) -> (limit: Int, since: UInt64) {
        (limits[rank].load(ordering: .sequentiallyConsistent), limitTimes[rank].load(ordering: .sequentiallyConsistent))
    }

    func leave(cores: Int) {
        self.cores.store(cores, ordering: .sequentiallyConsistent)
        pending.bitwiseOr(Self.coresBit, ordering: .sequentiallyConsistent)
    }

    func leave(held: QoSClassSet) {
        self.held.store(held.rawValue, ordering: .sequentiallyConsistent)
        pending.bitwiseOr(Self.heldBit, ordering: .sequentiallyConsistent)
    }

    // MARK: Taking

    /// Takes the notes. A change that comes meanwhile is taken now, or leaves a note without news.
    func take() -> Taken {
        let bits = pending.exchange(0, ordering: .sequentiallyConsistent)
        var taken = Taken(bits: bits)
        for rank in 0..<5 where taken.has(.counted, rank: rank) {
            taken.counts[rank] = counts[rank].exchange(0, ordering: .sequentiallyConsistent)
        }
        if bits & Self.coresBit != 0 { taken.cores = cores.load(ordering: .sequentiallyConsistent) }
        if bits & Self.heldBit != 0 {
            taken.held = QoSClassSet(rawValue: held.load(ordering: .sequentiallyConsistent))
        }
        return taken
    }

    /// Takes the fences to lift.
    func takeLifted(_ body: (FenceID) -> Void) {
        var slots = lifted.exchange(0, ordering: .sequentiallyConsistent)
        while slots != 0 {
            body(FenceID(code: liftedFences[slots.trailingZeroBitCount].load(ordering: .sequentiallyConsistent)))
            slots &= slots - 1
        }
    }

    /// The notes that were taken.
    struct Taken {
        fileprivate let bits: UInt64

        /// The change of each class's number of workers.
        fileprivate(set) var counts = InlineArray<5, Int>(repeating: 0)

        /// The number of processors; `nil` without a change.
        fileprivate(set) var cores: Int?

        /// The classes that the budget holds; `nil` without a change.
        fileprivate(set) var held: QoSClassSet?

        fileprivate init(bits: UInt64) { self.bits = bits }

        fileprivate static func bit(_ kind: Kind, _ rank: Int) -> UInt64 { 1 << UInt64(kind.rawValue * 8 + rank) }

        func has(_ kind: Kind, rank: Int) -> Bool { bits & Self.bit(kind, rank) != 0 }

        /// Whether a worker of the class came or went, or the class asked for one.
        func hasEvents(rank: Int) -> Bool {
            has(.counted, rank: rank) || has(.idle, rank: rank) || has(.wanted, rank: rank)
        }
    }
}
