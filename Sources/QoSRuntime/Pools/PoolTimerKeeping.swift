import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// The timers of a pool, behind their lock.
///
/// Threading: any thread, except where a method says otherwise. The lock is held for some tens of nanoseconds, and for the setting of the
/// loop's alarm; only threads of the two highest classes and the loop take it.
final class PoolTimerKeeping: Sendable {
    /// The classes whose idle workers wake up for their tasks' timers. The others' timers are the loop's: their windows are
    /// wide, and what falls together there costs one wake-up for all of them.
    static func isKept(rank: Int) -> Bool { rank >= QoSClass.userInitiated.rank }

    /// The widest window of a timer that a worker waits for; a wider one may fall together with others in the loop. Nanoseconds.
    static let widestWindow: UInt64 = 1_000_000

    private let state = Lock(PoolTimers<TimerService.Payload>())
    private let alarm: LoopAlarm
    private let rank: Int

    /// Whether there are timers: for a look without the lock. A worker that has added one sees it.
    private let isInUse = Atomic<Bool>(false)

    /// Whether there are timers. Any thread.
    var hasTimers: Bool { isInUse.load(ordering: .relaxed) }

    init(rank: Int, alarm: LoopAlarm) {
        self.rank = rank
        self.alarm = alarm
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

    /// Adds a timer of a task that is about to be suspended. A worker of the pool.
    func add(_ window: TimerWindow, _ payload: TimerService.Payload) {
        update { $0.add(window, payload) }
    }

    /// A worker is about to run a job.
    @inline(__always)
    func workerRuns(_ worker: Int) {
        if hasTimers { workerGoesOn(worker) }
    }

    @inline(never)
    private func workerGoesOn(_ worker: Int) {
        update { $0.workerGoesOn(worker) }
    }

    /// Sleeps until somebody unparks the worker, and gives timers that become due meanwhile to their executors. The parked worker.
    func park(_ worker: UnsafeMutablePointer<Worker>) {
        // Who adds one from now on sees to it that somebody wakes up, before it does anything else.
        guard hasTimers else { return unsafe worker.pointee.parker.park() }
        let index = unsafe worker.pointee.index
        var until = update { $0.workerParks(index) }
        while until != .max {
            if unsafe worker.pointee.parker.park(untilNanoseconds: until) { return workerGoesOn(index) }
            switch update({ $0.workerWoke(index, now: MonotonicClock.nanoseconds()) }) {
            case .sleepsOn:
                until = .max
            case .fires(let due, let next):
                unsafe fire(due, on: worker)
                until = next
            }
        }
        unsafe worker.pointee.parker.park()
        workerGoesOn(index)
    }

    /// As a thread that is no worker: what fires is added from outside, for whoever is woken.
    private func fire(_ due: [TimerService.Payload], on worker: UnsafeMutablePointer<Worker>) {
        cqos_set_current_worker(nil)
        for payload in due { payload.fire() }
        unsafe cqos_set_current_worker(worker)
    }

    /// Takes what the loop is to fire. The loop's thread.
    func takeDue(now: UInt64) -> [TimerService.Payload] {
        hasTimers ? update { $0.loopLooks(now: now) } : []
    }

    /// Takes out all timers, at shutdown. Any thread.
    func removeAll(_ body: (_ deadline: UInt64, TimerService.Payload) -> Void) {
        for (deadline, payload) in update({ $0.removeAll() }) { body(deadline, payload) }
    }
}
