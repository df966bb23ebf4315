import QoSCore
import QoSKernel
import Synchronization

/// A worker's thread, as the loop's thread keeps it.
@safe
final class WorkerThread {
    let name: String
    let rank: Int
    let index: Int
    private let worker: UnsafeMutablePointer<Worker>
    private var thread: Thread?

    /// Starts the thread of a worker.
    ///
    /// Threads inherit policy, nice value and slice from their creator, and cannot always get back up: this must be
    /// called on a thread that has not been lowered.
    init(core: SchedulerCore, rank: Int, index: Int) throws(KernelError) {
        let group = core.group
        let name = "qos-\(unsafe group.pools[rank].qosClass.abbreviation)-\(index)"
        self.name = name
        self.rank = rank
        self.index = index
        unsafe worker = group.pools[rank].workers + index
        thread = try Thread(name: name, calls: group.settings.calls) {
            unsafe core.applyEffects(of: group.pools[rank].qosClass, threadName: name)
            group.places.beginsOnNewThread(rank: rank, index)
            unsafe ThreadTable.register(worker: group.pools[rank].workers + index)
            defer { ThreadTable.unregister() }
            unsafe Worker.runLoop(group.pools[rank].workers + index)
        }
    }

    /// Whether the thread has come to its end, or is about to.
    var hasLeft: Bool { unsafe worker.pointee.hasLeft.load(ordering: .acquiring) }

    /// Waits for the thread's end, which must be near.
    func join() throws(KernelError) {
        try thread.take()?.join()
    }

    /// Leaves the thread to itself: it does not come to its end.
    func abandon() {
        thread.take()?.detach()
    }
}
