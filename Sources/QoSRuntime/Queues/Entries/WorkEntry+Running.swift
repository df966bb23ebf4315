import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

extension WorkEntry {
    /// The innermost entry that the calling thread runs.
    static var current: WorkEntry? {
        // SAFETY: only `run` sets it, to an entry that is kept while it runs.
        unsafe cqos_current_item().map { unsafe Unmanaged<WorkEntry>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The entry around this one on the same thread. Only that thread reads it.
    var outerEntry: WorkEntry? {
        // SAFETY: as above.
        unsafe outer.map { unsafe Unmanaged<WorkEntry>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs the entry on the calling thread.
    final func run() {
        let around = unsafe begin()
        performAsDeclared()
        unsafe end(around)
    }

    /// Makes the calling thread's work a part of the entry until ``end(_:)``. The work has the entry's level, and so
    /// have its submissions (rule B6). The entry is kept until then.
    ///
    /// - Returns: the entry around this one.
    final func begin() -> UnsafeMutableRawPointer? {
        unsafe outer = cqos_current_item()
        let itself = unsafe Unmanaged<PoolEntry>.passUnretained(self)
        unsafe cqos_set_current_item(itself.toOpaque())
        if let worker = Worker.current {
            runs(onWorker: cqos_own_id())
            unsafe worker.value.items.entered(itself)
            worker.value.line.queue(queue.labelNumber)
            if demandsMore(than: worker.qosClass.rank) {
                worker.group.calls.noteItemsChanged()
            }
        } else {
            beginsOnPlainThread()
        }
        return unsafe WorkScope.enter(itself)
    }

    /// Ends the part that ``begin()`` began.
    final func end(_ around: UnsafeMutableRawPointer?) {
        unsafe WorkScope.leave(for: around)
        let outer = unsafe self.outer
        if let worker = Worker.current {
            runs(onWorker: 0)
            unsafe worker.value.items.left(for: outer)
            worker.value.line.queue(outerEntry?.queue.labelNumber ?? 0)
            unsafe cqos_set_current_item(outer)
            if worker.value.boost.isUp.load(ordering: .relaxed) { Worker.ended(self, on: worker) }
        } else {
            unsafe cqos_set_current_item(outer)
            endsOnPlainThread()
        }
    }

    /// Whether the entry demands more than its worker's class and the entries around it, so that the loop has to look.
    ///
    /// A synchronous submission at its submitter's level demands nothing of its own.
    @inline(__always)
    fileprivate final func demandsMore(than rank: Int) -> Bool {
        effective.rank > max(rank, callerRank)
    }

    // MARK: Threads that are no workers

    @inline(never)
    private final func beginsOnPlainThread() {
        runs(onPlainThread: cqos_own_id())
        if effective.rank > (callerRank >= 0 ? callerRank : base.rank) { _ = adjustThread() }
    }

    @inline(never)
    private final func endsOnPlainThread() {
        runs(onPlainThread: 0)
        guard threadMayBeRaised.load(ordering: .sequentiallyConsistent),
            let raise = LockRegistry.shared.raise(ofThread: cqos_own_id())
        else { return }
        raise.ended(self)
        LockRegistry.shared.tidy(raise)
    }

    /// Raises or lowers the thread that runs the entry to the demanded level, if the thread is no worker (rules B7, I1,
    /// I3). Any thread, no lock held.
    ///
    /// - Returns: the thread, and the reason why it could not be raised; `nil` when it was, or when that was not
    ///   necessary.
    final func adjustThread() -> (thread: UInt32, failure: String)? {
        guard queue.core.group.profile != nil else { return nil }
        while true {
            let thread = plainRunner
            guard thread != 0 else { return nil }
            let raise = LockRegistry.shared.raiseOrNew(ofThread: thread)
            let outcome = raise.adjust(for: self)
            LockRegistry.shared.tidy(raise)
            switch outcome {
            case .done: return nil
            case .failed(let text): return (thread, text)
            case .retired: continue
            }
        }
    }

    /// Performs the entry, unless the scheduler is ending and the entry is to be passed over then.
    @inline(__always)
    private func performAsDeclared() {
        if let onShutdown { perform(as: onShutdown) } else { perform() }
    }

    @inline(never)
    private func perform(as behavior: ShutdownBehavior) {
        if behavior == .skip, queue.core.group.isEnding {
            passOver()
        } else {
            Worker.performing(behavior) { perform() }
        }
        if let hold = hold.take() { queue.core.endHold(hold) }
    }
}

extension Worker {
    /// Ends the raise of a worker with the item that caused it. If there is a task or are more entries around the item,
    /// the loop finds the new level.
    fileprivate static func ended(_ item: WorkEntry, on worker: WorkerRef) {
        let group = worker.group
        let own = worker.qosClass
        let isOutermost = unsafe cqos_current_item() == nil
        if isOutermost, worker.value.runsEntry {
            group.endBoost(of: worker, qosClass: own)
        } else if item.demandsMore(than: own.rank) {
            group.calls.noteItemsChanged()
        }
    }
}
