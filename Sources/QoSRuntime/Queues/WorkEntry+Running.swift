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
            WorkScope.with(self) { perform() }
            unsafe worker.pointee.items.left(for: around)
            unsafe cqos_set_current_item(around)
            if unsafe worker.pointee.isBoosted.load(ordering: .relaxed) { unsafe Worker.itemEnded(worker) }
        } else {
            WorkScope.with(self) { perform() }
            unsafe cqos_set_current_item(around)
        }
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
