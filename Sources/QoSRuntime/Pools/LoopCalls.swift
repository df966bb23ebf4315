import QoSEventLoop
import Synchronization

/// By what workers call the loop's thread: how many are awake, whether something waits or was raised; and how the loop looks for that.
///
/// Threading: any thread.
struct LoopCalls: ~Copyable {
    private let loop: EventLoop

    /// Workers that are not parked; spinning is worth it only while they are fewer than the processors.
    let awake = Atomic<Int>(0)

    /// Whether something waits behind busy workers, so that the loop has to look for tasks that were raised.
    let backlogFlag = Atomic<Bool>(false)

    /// Whether what a running item of a work queue is raised to has changed since the loop looked last.
    let itemsChanged = Atomic<Bool>(false)

    /// Whether the loop's next look is far away, since no worker is awake: what waits is paused, or waits for a thread.
    let isLookingSlowly = Atomic<Bool>(false)

    /// Whether the loop looks at the workers now and then.
    let isWatching = Atomic<Bool>(false)

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Work has been queued behind workers that are all busy: the loop begins to look through the queues.
    @inline(__always)
    func noteBacklog() {
        if backlogFlag.load(ordering: .relaxed) { return }
        backlogFlag.store(true, ordering: .sequentiallyConsistent)
        loop.wake()
    }

    /// What a running item of a work queue is raised to has changed: the loop looks at what runs, once at least.
    func noteItemsChanged() {
        let isKnown = itemsChanged.exchange(true, ordering: .sequentiallyConsistent)
        noteBacklog()
        if !isKnown || isLookingSlowly.load(ordering: .sequentiallyConsistent) { loop.wake() }
    }

    /// A worker wakes up: from more workers than processors on, the loop looks whether what they run was raised. It looks at the workers
    /// now and then, until all of them sleep.
    @inline(__always)
    func workerWakes(width: Int) {
        let (before, _) = awake.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if before >= width { noteBacklog() }
        // What it runs may wait for something that is paused.
        if before == 0, isLookingSlowly.load(ordering: .sequentiallyConsistent) { loop.wake() }
        if isWatching.load(ordering: .relaxed) { return }
        isWatching.store(true, ordering: .sequentiallyConsistent)
        loop.wake()
    }

    /// A worker parks, or leaves.
    @inline(__always)
    func workerParks() {
        awake.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }
}
