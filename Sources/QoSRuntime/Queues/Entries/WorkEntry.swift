import CQoSShims
import QoSCore
import Synchronization

/// An entry of a work queue or of a pool's queue. The base of items, and of the entries that stand for a queue in its
/// target.
///
/// Threading: the lock of the entry's queue guards the marked fields; the others are atomic or never change.
// SAFETY: as the base class; the fields marked "the queue's lock" are touched under it only.
@safe
class WorkEntry: PoolEntry, @unchecked Sendable {
    /// The queue that the entry was submitted to.
    let queue: QueueCore

    /// Whether the entry runs alone on a concurrent queue (rule B11).
    let isBarrier: Bool

    /// Whether a thread that waits for the entry can give up.
    var mayBeGivenUp: Bool { true }

    /// The shutdown's identity of the entry, if the shutdown waits for it. Set before the entry is added, read by the
    /// thread that runs it.
    var hold: Int?

    private let phase = Atomic<UInt8>(Phase.waiting)

    /// The entry's place in its queue. The queue's lock.
    var place = Place.outside

    /// Whether a helper looked for the entry before it was added. The queue's lock.
    var isLookedFor = false

    /// The level of the submission. The queue's lock.
    var base: LevelCode

    /// The levels of the waiters (rule B13). The queue's lock.
    var waits: [LevelCode] = []

    /// The entry that stands for this one in the queue's target; `nil` for the pools. The queue's lock.
    var carrier: WorkEntry?

    /// The highest ``LevelCode/poolOrder`` of the entry's places in a pool; −1 for none. The queue's lock.
    var pooledOrder = -1

    /// The rank at which a synchronous submitter runs anyway, whose thread runs the entry or waits for it; −1 for other
    /// entries. Set before the entry is shared.
    var callerRank = -1

    /// The place of an entry in its queue.
    enum Place: Equatable {
        /// Not yet in the queue, or gone.
        case outside
        /// Waits for its turn, under this number.
        case held(Int)
        /// Has its turn, at this position among the active entries.
        case active(Int)
    }

    private enum Phase {
        static let waiting: UInt8 = 0
        static let started: UInt8 = 1
    }

    init(queue: QueueCore, level: LevelCode, isBarrier: Bool = false, onShutdown: ShutdownBehavior? = nil) {
        self.queue = queue
        self.isBarrier = isBarrier
        base = level
        super.init(level: level, onShutdown: onShutdown)
    }

    /// Does the entry's work. Called once, in the queue's turn, by the thread that has claimed the entry.
    func perform() {}

    /// Replaces ``perform()`` when a shutdown passes the entry over. Its waiters go on.
    func passOver() {}

    override func reached(inPoolOf rank: Int?) {
        guard claim() else { return }
        queue.run(active: self)
    }

    /// Runs the claimed entry on a thread that waits for an entry behind it.
    ///
    /// - Parameter isEnough: whether the thread's wait is over.
    func help(until isEnough: () -> Bool) {
        queue.run(active: self)
    }

    // MARK: Level

    /// The level at which the entry runs, with the demands of the target queues.
    final override var effectiveLevel: QoSLevel? { effectiveThroughTargets.level }

    /// The level at which the entry runs, or would run if its turn came now. O(number of entries behind it).
    final var expectedLevel: QoSLevel? { queue.expectedLevel(of: self).level }

    private final var effectiveThroughTargets: LevelCode {
        guard queue.hasTarget, let carrier = queue.carrier(of: self) else { return effective }
        return max(effective, carrier.effectiveThroughTargets)
    }

    /// Prepares the entry for another turn on the submitter's thread. The queue's lock. No other thread refers to it
    /// for its level.
    @inline(__always)
    final func prepare(level code: LevelCode, callerRank: Int) {
        base = code
        self.callerRank = callerRank
        if !waits.isEmpty { waits = [] }
        prepare(level: code)
    }

    /// The level that the entry and its waiters demand. The queue's lock.
    final var demand: LevelCode { waits.max().map { max($0, base) } ?? base }

    // MARK: Claiming

    /// Whether a thread runs the entry or has run it.
    final var isStarted: Bool { phase.load(ordering: .acquiring) != Phase.waiting }

    /// Takes the entry to run it. Only one thread succeeds.
    @inline(__always)
    final func claim() -> Bool {
        phase.exchange(Phase.started, ordering: .acquiringAndReleasing) == Phase.waiting
    }

    /// Gives the entry back: the queue was suspended before it began. The queue's lock.
    final func unclaim() {
        phase.store(Phase.waiting, ordering: .releasing)
    }

    // MARK: In its queue

    final override var label: String { queue.label }

    final override var hasSerialTurn: Bool { queue.kind == .serial }

    final override func delayEnded() {
        queue.add(self)
    }

    final override func raised(to level: LevelCode) {
        queue.waitBegan(for: self, at: level)
    }

    /// Returns the entry's number in an order of tokens. The number keeps the entry until ``take(token:)``.
    final func makeToken() -> UInt {
        UInt(bitPattern: unsafe Unmanaged.passRetained(self).toOpaque())
    }

    static func take(token: UInt) -> WorkEntry {
        // SAFETY: `makeToken` retained it for this one time.
        unsafe Unmanaged<WorkEntry>.fromOpaque(UnsafeRawPointer(bitPattern: token).unsafelyUnwrapped)
            .takeRetainedValue()
    }
}
