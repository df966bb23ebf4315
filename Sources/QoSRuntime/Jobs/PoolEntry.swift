import CQoSShims
import QoSCore
import Synchronization

/// What stands in a pool's queue for work that is no Swift job: the base of a work queue's entries.
///
/// A pool's queue links it through its own first two words (``JobNode``). The pools, the timers and the raises of threads know no more
/// of an entry than what stands here.
///
/// Threading: `outer` belongs to the thread that runs the entry; the rest is atomic or never changes.
// SAFETY: the links belong to the pool's queue, as those of every node; `outer` belongs to the thread that runs the entry.
@safe
class PoolEntry: CurrentWork, @unchecked Sendable {
    /// The links; the first stored words, so that they lie where ``JobNode`` expects them.
    private var links: (UInt, UInt) = (0, 0)

    /// What it declares for a shutdown.
    let onShutdown: ShutdownBehavior?

    /// What it runs at, promotions included. Written under the lock of its queue.
    private let level: Atomic<UInt8>

    /// The entry around it on the thread that runs it.
    var outer: UnsafeMutableRawPointer?

    /// The thread that runs it: the kernel's id times two, plus 1 for one that is no worker; 0 for none.
    private let runner = Atomic<UInt32>(0)

    /// Whether its thread, which is no worker, may have been raised for it. Under the lock of the thread's raise; the thread reads.
    let threadMayBeRaised = Atomic<Bool>(false)

    init(level: LevelCode, onShutdown: ShutdownBehavior?) {
        self.onShutdown = onShutdown
        self.level = Atomic(level.rawValue)
    }

    // MARK: What the higher layer does

    /// The name of its queue.
    var label: String { "" }

    /// Whether it has the turn of a serial queue.
    var hasSerialTurn: Bool { false }

    /// What it runs at, with what stands behind it.
    var effectiveLevel: QoSLevel? { effective.level }

    /// A worker has come to it in its pool's queue.
    ///
    /// - Parameter rank: that of the pool's class; `nil` for a thread that is no worker, when the scheduler is closed.
    func reached(inPoolOf rank: Int?) {}

    /// Its delay is over: it goes into its queue.
    func delayEnded() {}

    /// Something of a level waits for it.
    func raised(to level: LevelCode) {}

    // MARK: Level

    /// What it runs at, promotions included; any thread.
    @inline(__always)
    final var effective: LevelCode {
        LevelCode(rawValue: level.load(ordering: .sequentiallyConsistent))
    }

    /// Writes what it runs at. The lock of its queue.
    @inline(__always)
    final func publish(_ code: LevelCode) {
        level.store(code.rawValue, ordering: .sequentiallyConsistent)
    }

    /// Writes what it is about to run at, where nobody else refers to it for its level. The lock of its queue.
    @inline(__always)
    final func prepare(level code: LevelCode) {
        level.store(code.rawValue, ordering: .relaxed)
    }

    // MARK: Who runs it

    /// The address of the entry around this one; 0 for none. Who runs this one, and the loop while it looks at it.
    final var outerAddress: UInt { unsafe UInt(bitPattern: outer) }

    /// The thread that runs it; 0 for none. Any thread; exact for a thread that waits while it runs the entry.
    final var runningThread: UInt32 { runner.load(ordering: .sequentiallyConsistent) >> 1 }

    /// The thread that runs it, if that is no worker; 0 otherwise.
    final var plainRunner: UInt32 {
        let runner = runner.load(ordering: .sequentiallyConsistent)
        return runner & 1 == 0 ? 0 : runner >> 1
    }

    /// Says which worker's thread runs it; 0 for none. That thread.
    ///
    /// Who has to know exactly looks at the thread's wait in the registry of waits before, under a lock that the thread has held since.
    @inline(__always)
    final func runs(onWorker id: UInt32) {
        runner.store(id << 1, ordering: .relaxed)
    }

    /// Says which thread runs it that is no worker; 0 for none. That thread, before it looks what the entry is raised to, and at its
    /// end before it looks whether it was raised itself.
    final func runs(onPlainThread id: UInt32) {
        runner.store(id == 0 ? 0 : id << 1 | 1, ordering: .sequentiallyConsistent)
    }

    /// Whether the calling thread runs an entry of a serial queue, innermost or around it: it has the queue's turn.
    static var isInSerialTurn: Bool {
        var address = unsafe cqos_current_item().map { UInt(bitPattern: $0) } ?? 0
        // SAFETY: the calling thread runs each of them, and keeps it meanwhile.
        while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
            let entry = unsafe Unmanaged<PoolEntry>.fromOpaque(pointer)
            if unsafe entry._withUnsafeGuaranteedRef({ $0.hasSerialTurn }) { return true }
            address = unsafe entry._withUnsafeGuaranteedRef { $0.outerAddress }
        }
        return false
    }

    // MARK: As a node

    /// The node by which it stands in a pool's queue, which keeps it until ``take(from:)``.
    final func makeNode() -> JobNode {
        let node = JobNode(address: UInt(bitPattern: unsafe Unmanaged.passRetained(self).toOpaque()))
        let lowering = effective.lowering
        if lowering > 0 { OrderedNodes.areUsed.store(true, ordering: .relaxed) }
        node.prepare(.entry.lowered(by: lowering))
        return node
    }

    static func take(from node: JobNode) -> PoolEntry {
        // SAFETY: the node's tag says that it is an entry; `makeNode` retained it for this one time.
        unsafe Unmanaged<PoolEntry>.fromOpaque(
            UnsafeRawPointer(bitPattern: node.address).unsafelyUnwrapped
        ).takeRetainedValue()
    }

    /// What an entry that stands in a pool declares for a shutdown; the pool's queue keeps it.
    static func behavior(of node: JobNode) -> ShutdownBehavior? {
        // SAFETY: the node's tag says that it is an entry, which the queue that it stands in retains.
        unsafe Unmanaged<PoolEntry>.fromOpaque(UnsafeRawPointer(bitPattern: node.address).unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { $0.onShutdown }
    }
}
