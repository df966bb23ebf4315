import QoSCore
import QoSKernel
import Synchronization

/// The record that the loop's thread keeps of a worker's thread.
@safe
final class WorkerThread {
    let name: String
    let rank: Int
    let index: Int
    private let worker: WorkerRef
    private var thread: Thread?

    /// Starts the thread of a worker.
    ///
    /// The loop's thread, which is never lowered.
    init(core: SchedulerCore, rank: Int, index: Int) throws(KernelError) {
        let group = core.group
        let name = "qos-\(group.pools[rank].qosClass.abbreviation)-\(index)"
        self.name = name
        self.rank = rank
        self.index = index
        worker = group.pools[rank].workers.at(index)
        thread = try Thread(name: name, calls: group.settings.calls) {
            LibraryThreads.setRule(.worker)
            core.applyEffects(of: group.pools[rank].qosClass, threadName: name)
            group.places.beginsOnNewThread(rank: rank, index)
            ThreadTable.register(worker: group.pools[rank].workers.at(index))
            defer { ThreadTable.unregister() }
            Worker.runLoop(group.pools[rank].workers.at(index))
        }
    }

    /// Whether the thread has ended, or is about to.
    var hasLeft: Bool { worker.value.hasLeft }

    /// Waits for the thread's end, which must be near.
    func join() throws(KernelError) {
        try thread.take()?.join()
    }

    /// Detaches the thread, because it does not end.
    func abandon() {
        thread.take()?.detach()
    }
}
