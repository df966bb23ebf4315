import CQoSShims
package import QoSCore
import Synchronization

/// An entry in a pool's queue for work that is no Swift job: the base of a work queue's entries.
///
/// A pool's queue links it through its own first two words (``JobNode``). The pools, the timers and the raises of
/// threads know no more of an entry than this class.
///
/// Threading: `outer` belongs to the thread that runs the entry; the rest is atomic or never changes.
// SAFETY: the links belong to the pool's queue, as those of every node; `outer` belongs to the thread that runs the entry.
@safe
class PoolEntry: CurrentWork, @unchecked Sendable {
    /// The links. They are the first stored words, so they lie where ``JobNode`` expects them.
    private var links: (UInt, UInt) = (0, 0)

    /// The declared shutdown behavior of the entry.
    let onShutdown: ShutdownBehavior?

    /// The level at which the entry runs, promotions included. Written under the lock of its queue.
    private let level: Atomic<UInt8>

    /// The entry around this one on the same thread.
    var outer: UnsafeMutableRawPointer?

    /// The thread that runs the entry: the kernel's id times two, plus 1 for a thread that is no worker; 0 for none.
    private let runner = Atomic<UInt32>(0)

    /// Whether the entry's thread, which is no worker, may have been raised for it. Written under the lock of the
    /// thread's raise; the thread reads it.
    let threadMayBeRaised = Atomic<Bool>(false)

    init(level: LevelCode, onShutdown: ShutdownBehavior?) {
        self.onShutdown = onShutdown
        self.level = Atomic(level.rawValue)
    }

    // MARK: Actions of the higher layer

    /// The name of its queue.
    var label: String { "" }

    /// Whether the entry has the turn of a serial queue.
    var hasSerialTurn: Bool { false }

    /// The level at which the entry runs, with the entries behind it.
    var effectiveLevel: QoSLevel? { effective.level }

    /// Tells the entry that a worker has come to it in its pool's queue.
    ///
    /// - Parameter rank: the rank of the pool's class; `nil` for a thread that is no worker, when the scheduler is
    ///   closed.
    func reached(inPoolOf rank: Int?) { preconditionFailure("an entry of a work queue overrides it") }

    /// Adds the entry to its queue, because its delay is over.
    func delayEnded() { preconditionFailure("an entry of a work queue overrides it") }

    /// Tells the entry that work of a level waits for it.
    func raised(to level: LevelCode) { preconditionFailure("an entry of a work queue overrides it") }

    // MARK: Level

    /// The level at which the entry runs, promotions included; any thread.
    @inline(__always)
    final var effective: LevelCode {
        LevelCode(rawValue: level.load(ordering: .sequentiallyConsistent))
    }

    /// Writes the level at which the entry runs. Under the lock of its queue.
    @inline(__always)
    final func publish(_ code: LevelCode) {
        level.store(code.rawValue, ordering: .sequentiallyConsistent)
    }

    /// Writes the level at which the entry is about to run, while no other thread reads its level. Under the lock of
    /// its queue.
    @inline(__always)
    final func prepare(level code: LevelCode) {
        level.store(code.rawValue, ordering: .relaxed)
    }

    // MARK: The thread that runs it

    /// The address of the entry around this one; 0 for none. Read by the running thread, and by the loop during a look
    /// at the entry.
    final var outerAddress: UInt { unsafe UInt(bitPattern: outer) }

    /// The thread that runs the entry; 0 for none. Any thread; exact for a thread that waits while it runs the entry.
    final var runningThread: UInt32 { runner.load(ordering: .sequentiallyConsistent) >> 1 }

    /// The thread that runs the entry, if that thread is no worker; 0 otherwise.
    final var plainRunner: UInt32 {
        let runner = runner.load(ordering: .sequentiallyConsistent)
        return runner & 1 == 0 ? 0 : runner >> 1
    }

    /// Notes the worker's thread that runs the entry; 0 for none. Called by that thread.
    ///
    /// For an exact answer, a thread first looks up the running thread's wait in the registry of waits. It does so
    /// under a lock that the running thread has held since.
    @inline(__always)
    final func runs(onWorker id: UInt32) {
        runner.store(id << 1, ordering: .relaxed)
    }

    /// Notes the thread that runs the entry and is no worker; 0 for none. Called by the running thread. At the
    /// beginning, the call comes before the thread looks at the entry's raised level. At the end, the call comes before
    /// the thread looks whether it was raised itself.
    final func runs(onPlainThread id: UInt32) {
        runner.store(id == 0 ? 0 : id << 1 | 1, ordering: .sequentiallyConsistent)
    }

    /// Whether the calling thread runs an entry of a serial queue, innermost or around it, and so has the queue's turn.
    static var isInSerialTurn: Bool {
        var address = unsafe cqos_current_item().map { UInt(bitPattern: $0) } ?? 0
        // SAFETY: the calling thread runs each of these entries, and keeps them alive meanwhile.
        while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
            let entry = unsafe Unmanaged<PoolEntry>.fromOpaque(pointer)
            if unsafe entry._withUnsafeGuaranteedRef({ $0.hasSerialTurn }) { return true }
            address = unsafe entry._withUnsafeGuaranteedRef { $0.outerAddress }
        }
        return false
    }

    // MARK: As a node

    /// Makes the node for a pool's queue. The node keeps the entry alive until ``take(from:)``.
    final func makeNode() -> JobNode {
        let node = JobNode(address: UInt(bitPattern: unsafe Unmanaged.passRetained(self).toOpaque()))
        let lowering = effective.lowering
        if lowering > 0 { OrderedNodes.areUsed.store(true, ordering: .relaxed) }
        node.prepare(.entry.lowered(by: lowering))
        return node
    }

    static func take(from node: JobNode) -> PoolEntry {
        // SAFETY: the node's tag says that it is an entry; `makeNode` retained it for this one call.
        unsafe Unmanaged<PoolEntry>.fromOpaque(
            UnsafeRawPointer(bitPattern: node.address).unsafelyUnwrapped
        ).takeRetainedValue()
    }

    /// Returns the level of an entry in a pool's queue, which keeps it alive.
    static func level(of node: JobNode) -> LevelCode {
        // SAFETY: the node's tag says that it is an entry, and its queue retains it.
        unsafe Unmanaged<PoolEntry>.fromOpaque(UnsafeRawPointer(bitPattern: node.address).unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { $0.effective }
    }

    /// Returns the declared shutdown behavior of an entry in a pool's queue, which keeps it alive.
    static func behavior(of node: JobNode) -> ShutdownBehavior? {
        // SAFETY: the node's tag says that it is an entry, and its queue retains it.
        unsafe Unmanaged<PoolEntry>.fromOpaque(UnsafeRawPointer(bitPattern: node.address).unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { $0.onShutdown }
    }
}

/// The work that the calling code belongs to: a work item, an operation, a thread with a level.
///
/// It gives the level at which that code submits (rules B6, O1, O8). Each submission asks for the level anew. So a
/// promotion of running work holds for everything that the work submits from then on.
///
/// Threading: any thread reads `effectiveLevel`.
package protocol CurrentWork: AnyObject, Sendable {
    /// The level at which the work runs, promotions included; `nil` for work without a level.
    var effectiveLevel: QoSLevel? { get }

    /// The level, and the class with which a task was made to run the work; `nil` for work without such a task.
    var standing: (level: QoSLevel?, begunAt: QoSClass?) { get }
}

extension CurrentWork {
    package var standing: (level: QoSLevel?, begunAt: QoSClass?) { (effectiveLevel, nil) }
}
