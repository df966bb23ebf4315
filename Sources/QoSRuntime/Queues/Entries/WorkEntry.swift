import CQoSShims
import QoSCore
import Synchronization

/// What stands in a work queue, or in a pool's queue, for something to run: the base of items, and of what stands for a queue
/// in the queue that it targets.
///
/// Threading: what is marked so belongs to the lock of the queue that it stands in; the rest is atomic or never changes.
// SAFETY: as the base class; the fields marked "the queue's lock" are touched under it only.
@safe
class WorkEntry: PoolEntry, @unchecked Sendable {
    /// The queue that it was submitted to.
    let queue: QueueCore

    /// Whether it runs alone on a concurrent queue (rule B11).
    let isBarrier: Bool

    /// Whether a thread that waits for it can give up.
    var mayBeGivenUp: Bool { true }

    /// What the shutdown knows it by, if it waits for it. Set before it is added, read by who runs it.
    var hold: Int?

    private let phase = Atomic<UInt8>(Phase.waiting)

    /// Where it is in its queue. The queue's lock.
    var place = Place.outside

    /// Whether a helper has looked for it before it was added. The queue's lock.
    var isLookedFor = false

    /// The level that it was submitted with. The queue's lock.
    var base: LevelCode

    /// The levels of those who wait for it (rule B13). The queue's lock.
    var waits: [LevelCode] = []

    /// What stands for it in the queue's target; `nil` where that is the pools. The queue's lock.
    var carrier: WorkEntry?

    /// The highest ``LevelCode/poolOrder`` at which it stands in a pool; −1 for none. The queue's lock.
    var pooledOrder = -1

    /// The rank of what a synchronous submitter runs at anyway, whose thread runs it or waits for it; −1 for other entries. Set before
    /// it is shared.
    var callerRank = -1

    /// Where an entry is in its queue.
    enum Place: Equatable {
        /// Not yet in it, or gone.
        case outside
        /// Waits for its turn, under this number.
        case held(Int)
        /// Has its turn, at this position among those that have.
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

    /// Does what it stands for. Called once, by whoever has claimed it, in the queue's turn.
    func perform() {}

    /// Does what is to be done where it is passed over, at a shutdown: whoever waits for it goes on. In the place of ``perform()``.
    func passOver() {}

    override func reached(inPoolOf rank: Int?) {
        guard claim() else { return }
        queue.run(active: self)
    }

    /// Runs it, once claimed, on a thread that waits for what stands behind it.
    ///
    /// - Parameter isEnough: whether the thread's wait is over.
    func help(until isEnough: () -> Bool) {
        queue.run(active: self)
    }

    // MARK: Level

    /// What it runs at, with what the queues that its own targets demand of it.
    final override var effectiveLevel: QoSLevel? { effectiveThroughTargets.level }

    /// What it runs at, or would run at if its turn came now. O(what stands behind it).
    final var expectedLevel: QoSLevel? { queue.expectedLevel(of: self).level }

    private final var effectiveThroughTargets: LevelCode {
        guard queue.hasTarget, let carrier = queue.carrier(of: self) else { return effective }
        return max(effective, carrier.effectiveThroughTargets)
    }

    /// Makes it ready for another turn on the submitter's thread. The queue's lock; nobody else refers to it for its level.
    @inline(__always)
    final func prepare(level code: LevelCode, callerRank: Int) {
        base = code
        self.callerRank = callerRank
        if !waits.isEmpty { waits = [] }
        prepare(level: code)
    }

    /// What its own level and those who wait for it demand. The queue's lock.
    final var demand: LevelCode { waits.max().map { max($0, base) } ?? base }

    // MARK: Who runs it

    /// Whether somebody runs it or has run it.
    final var isStarted: Bool { phase.load(ordering: .acquiring) != Phase.waiting }

    /// Takes it to run it; one alone succeeds.
    @inline(__always)
    final func claim() -> Bool {
        phase.exchange(Phase.started, ordering: .acquiringAndReleasing) == Phase.waiting
    }

    /// Gives it back: the queue was suspended before it began. The queue's lock.
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

    /// Its number in an order of tokens, which keeps it until ``take(token:)``.
    final func makeToken() -> UInt {
        UInt(bitPattern: unsafe Unmanaged.passRetained(self).toOpaque())
    }

    static func take(token: UInt) -> WorkEntry {
        // SAFETY: `makeToken` retained it for this one time.
        unsafe Unmanaged<WorkEntry>.fromOpaque(UnsafeRawPointer(bitPattern: token).unsafelyUnwrapped)
            .takeRetainedValue()
    }
}
