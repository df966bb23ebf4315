import QoSCore
import QoSEventLoop
import Synchronization

/// The state by which workers call the loop's thread: the number of awake workers, whether work waits or was raised,
/// and how the loop looks for raised work.
///
/// Threading: any thread.
struct LoopSignals: ~Copyable {
    private let loop: EventLoop

    /// The number of workers that are not parked. Spinning is worthwhile only while they are fewer than the processors.
    let awake = Atomic<Int>(0)

    /// The demand that the loop looks for raised tasks, because work waits behind busy workers.
    let backlog = LoopRequest()

    /// Whether the raise of a running item of a work queue has changed since the loop's last look.
    private let itemsChanged = Atomic<Bool>(false)

    /// Whether the program has raised a task since the loop's last look.
    private let taskRaised = Atomic<Bool>(false)

    /// Whether the loop's next look is far away because no worker is awake: the waiting work is paused, or waits for a
    /// thread.
    let isLookingSlowly = Atomic<Bool>(false)

    /// The demand that the loop looks at the workers now and then, because some are awake.
    let watch = LoopRequest()

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Notes that work has been queued behind workers that are all busy. The loop begins to look through the queues.
    @inline(__always)
    func noteBacklog() {
        if backlog.make() { loop.wake() }
    }

    /// Notes that the raise of a running item of a work queue has changed. The loop looks at running work at least
    /// once.
    func noteItemsChanged() {
        let isKnown = itemsChanged.exchange(true, ordering: .sequentiallyConsistent)
        noteBacklog()
        if !isKnown || isLookingSlowly.load(ordering: .sequentiallyConsistent) { loop.wake() }
    }

    /// Notes that the program has raised a task. The loop looks soon.
    func noteTaskRaised() {
        let isKnown = taskRaised.exchange(true, ordering: .sequentiallyConsistent)
        noteBacklog()
        if !isKnown { loop.wake() }
    }

    /// The raises that were reported since the loop's last look.
    var told: LookSchedule.Told {
        if taskRaised.load(ordering: .sequentiallyConsistent) { return .taskRaised }
        return itemsChanged.load(ordering: .sequentiallyConsistent) ? .itemRaised : .nothing
    }

    /// Forgets the reports, before the look that they ask for. The loop's thread.
    func forgetTold() {
        taskRaised.store(false, ordering: .sequentiallyConsistent)
        itemsChanged.store(false, ordering: .sequentiallyConsistent)
    }

    /// Notes that a worker wakes up. With more workers than processors, the loop looks whether their work was raised.
    /// It looks at the workers now and then, until all of them sleep.
    @inline(__always)
    func workerWakes(width: Int) {
        let (before, _) = awake.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if before >= width { noteBacklog() }
        // The work of this worker may wait for paused work.
        if before == 0, isLookingSlowly.load(ordering: .sequentiallyConsistent) { loop.wake() }
        if watch.make() { loop.wake() }
    }

    /// Notes that a worker parks, or leaves.
    @inline(__always)
    func workerParks() {
        awake.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }
}
