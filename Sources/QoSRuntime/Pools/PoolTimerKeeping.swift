import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// The timers of a pool, behind their lock.
///
/// Threading: any thread, except where a method says otherwise. The lock is held for some tens of nanoseconds, and for
/// the setting of the loop's alarm. Only threads of the two highest classes and the loop take it.
final class PoolTimerKeeping: Sendable {
    /// Returns whether idle workers of a class wake up for their tasks' timers. The other classes' timers are the
    /// loop's: their windows are wide, and timers that fall together cost one wake-up.
    static func isKept(rank: Int) -> Bool { rank >= QoSClass.userInitiated.rank }

    /// The widest window of a timer for which a worker waits. A wider one may fall together with others in the loop.
    /// Nanoseconds.
    static let widestWindow: UInt64 = 1_000_000

    /// The longest delay of a timer that counts suspensions and for which a worker waits. The worker's sleep in the
    /// kernel stands still during a suspension, so such a timer is late by at most this afterwards.
    static let longestContinuousDelay = Duration.seconds(1)

    private let state = Lock(PoolTimers<TimerService.Payload>())
    private let alarm: LoopAlarm
    private let tally: TimerTally
    private let rank: Int

    /// Whether there are timers, for a look without the lock. A worker that has added one sees it.
    private let isInUse = Atomic<Bool>(false)

    /// Whether there are timers. Any thread.
    var hasTimers: Bool { isInUse.load(ordering: .relaxed) }

    init(rank: Int, alarm: LoopAlarm, tally: TimerTally) {
        self.rank = rank
        self.alarm = alarm
        self.tally = tally
    }

    private func update<Result>(_ body: (inout PoolTimers<TimerService.Payload>) -> Result) -> Result {
        state.withLock { timers in
            let armed = timers.armed
            let result = body(&timers)
            if timers.armed != armed { alarm.set(for: timers.armed, rank: rank) }
            isInUse.store(timers.next != .max, ordering: .relaxed)
            return result
        }
    }

    /// Adds a timer of a task that is about to be suspended. On a worker of the pool.
    func add(_ window: TimerWindow, _ payload: TimerService.Payload) {
        for ended in update({ $0.add(window, payload, isObsolete: \.isCancelledSleep) }) { ended.fire() }
    }

    /// Notes that a worker is about to run a job.
    @inline(__always)
    func workerRuns(_ worker: Int) {
        if hasTimers { workerGoesOn(worker) }
    }

    @inline(never)
    private func workerGoesOn(_ worker: Int) {
        update { $0.workerGoesOn(worker) }
    }

    /// Sleeps until a thread unparks the worker, and meanwhile gives due timers to their executors. On the parked
    /// worker.
    func park(_ worker: WorkerRef) {
        // A thread that adds a timer from now on first sees to it that a thread wakes up for the timer.
        guard hasTimers else { return worker.value.parker.park() }
        let index = worker.index
        var until = update { $0.workerParks(index) }
        while until != .max {
            if worker.value.parker.park(untilNanoseconds: until) { return workerGoesOn(index) }
            switch update({ $0.workerWoke(index, now: MonotonicClock.nanoseconds()) }) {
            case .sleepsOn:
                until = .max
            case .fires(let due, let next):
                fire(due, on: worker)
                until = next
            }
        }
        worker.value.parker.park()
        workerGoesOn(index)
    }

    /// Fires timers as a thread that is no worker. So their jobs are added from outside, for the next worker that is
    /// woken.
    private func fire(_ due: [TimerService.Payload], on worker: WorkerRef) {
        count(due)
        Worker.setCurrent(nil)
        for payload in due { payload.fire() }
        Worker.setCurrent(worker)
    }

    /// Takes the timers that the loop has to fire. The loop's thread.
    func takeDue(now: UInt64) -> [TimerService.Payload] {
        guard hasTimers else { return [] }
        let due = update { $0.loopLooks(now: now) }
        count(due)
        return due
    }

    /// Counts timers that one wake-up fires.
    private func count(_ due: [TimerService.Payload]) {
        for index in due.indices { tally.fired(for: QoSClass(atRank: rank), isWakeUp: index == 0) }
    }

    /// Takes out all timers, at shutdown. Any thread.
    func removeAll(_ body: (_ deadline: UInt64, TimerService.Payload) -> Void) {
        for (deadline, payload) in update({ $0.removeAll() }) { body(deadline, payload) }
    }
}
