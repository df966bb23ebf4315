import CQoSShims
import QoSCore
import Synchronization

extension WorkEntry {
    /// The innermost entry that the calling thread runs.
    static var current: WorkEntry? {
        // SAFETY: set by `run` only, to an entry that is kept while it runs.
        unsafe cqos_current_item().map { unsafe Unmanaged<WorkEntry>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The entry around this one on the thread that runs it; that thread only.
    var outerEntry: WorkEntry? {
        // SAFETY: as above.
        unsafe outer.map { unsafe Unmanaged<WorkEntry>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The address of the entry around this one; 0 for none. Who runs this one, and the loop while it looks at it.
    var outerAddress: UInt { unsafe UInt(bitPattern: outer) }

    /// Runs it on the calling thread, in whose execution the level and what is submitted are its own (rule B6).
    final func run() {
        let around = unsafe cqos_current_item()
        unsafe outer = around
        let itself = unsafe Unmanaged.passUnretained(self)
        unsafe cqos_set_current_item(itself.toOpaque())
        if let worker = unsafe Worker.current {
            unsafe worker.pointee.items.entered(itself)
            unsafe worker.pointee.noteIfAbove(effective)
            WorkScope.with(self) { performAsDeclared() }
            unsafe worker.pointee.items.left(for: around)
            unsafe cqos_set_current_item(around)
            if unsafe worker.pointee.isBoosted.load(ordering: .relaxed) { unsafe Worker.itemEnded(worker) }
        } else {
            WorkScope.with(self) { performAsDeclared() }
            unsafe cqos_set_current_item(around)
        }
    }

    /// Does what it stands for, unless the scheduler ends and it is to be passed over then.
    @inline(__always)
    private func performAsDeclared() {
        if let onShutdown { perform(as: onShutdown) } else { perform() }
    }

    @inline(never)
    private func perform(as behavior: ShutdownBehavior) {
        if behavior == .skip, queue.core.isEnding {
            passOver()
        } else {
            Worker.performing(behavior) { perform() }
        }
        if let hold = hold.take() { queue.core.endHold(hold) }
    }

    /// What an entry that stands in a pool declares for a shutdown; the pool's queue keeps it.
    static func behavior(of node: JobNode) -> ShutdownBehavior? {
        // SAFETY: the node's tag says that it is an entry, which the queue that it stands in retains.
        unsafe Unmanaged<WorkEntry>.fromOpaque(UnsafeRawPointer(bitPattern: node.address).unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { $0.onShutdown }
    }
}

extension Worker {
    /// Lets the loop look when an item runs on a thread of a lower class than its own.
    @inline(__always)
    func noteIfAbove(_ level: LevelCode) {
        if unsafe pool.pointee.qosClass.rank < level.rank { unsafe pool.pointee.core.noteItemsChanged() }
    }

    /// An item has ended on a worker that was raised: the raise ends with it, unless there is more around it, which the loop
    /// finds out.
    static func itemEnded(_ worker: UnsafeMutablePointer<Worker>) {
        let core = unsafe worker.pointee.pool.pointee.core
        let isOutermost = unsafe cqos_current_item() == nil
        let node = unsafe worker.pointee.current
        let isInTask = node?.tag.isJob ?? true
        if isOutermost, !isInTask {
            unsafe core.endBoost(of: worker, qosClass: worker.pointee.pool.pointee.qosClass)
        } else {
            core.noteItemsChanged()
        }
    }
}
