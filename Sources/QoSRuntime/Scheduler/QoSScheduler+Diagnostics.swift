public import QoSCore
import QoSKernel
import Synchronization

extension QoSScheduler {
    /// The scheduler's counters and its pending work at this moment.
    ///
    /// The numbers are read one after the other while the scheduler runs. Each is right, but together they may be
    /// off by the changes meanwhile. Some microseconds; any thread.
    public var snapshot: SchedulerSnapshot { core.snapshot() }

    /// The kernel effects of each thread, in the order in which the threads started.
    package var workerEffects: [WorkerEffects] { core.effects.withLock { $0 } }
}

/// The counters of a scheduler and its pending work.
public struct SchedulerSnapshot: Sendable, Hashable, Codable {
    /// The pool of one class.
    public struct Pool: Sendable, Hashable, Codable {
        /// The class.
        public let qosClass: QoSClass
        /// The number of workers that the pool may have.
        public let width: Int
        /// The number of workers at work now, as admission counts them. Blocked and parked workers are not counted.
        public let running: Int
        /// The limit of `running` set by ``QoSScheduler/setWidthLimit(_:for:)``; 0 pauses the class, `nil` is no limit.
        public let widthLimit: Int?
        /// The time until the last change of `widthLimit` took effect; zero before the first.
        public var widthChangeDelay: Duration { .nanoseconds(widthChangeDelayNanoseconds) }
        /// The number of workers. It exceeds `width` while some stand in for blocked ones, and for a moment after.
        public let workers: Int
        /// The number of workers that are known to be blocked.
        public let blocked: Int
        /// The number of threads started so far to stand in for blocked workers.
        public let standIns: UInt64
        /// The run time of the pool's work: the processor time of its threads so far.
        public var processorTime: Duration { .nanoseconds(processorTimeNanoseconds) }
        /// The number of jobs and lanes in workers' queues. Jobs that came in since a worker's last look are not
        /// counted.
        public let queued: Int
        /// The age of the job that has waited longest; zero when no job waits behind busy workers. Exact to
        /// two milliseconds or a sixty-fourth.
        public var oldestWait: Duration { .nanoseconds(oldestWaitNanoseconds) }
        /// The longest wait of a job seen so far, with the same precision.
        public var longestWait: Duration { .nanoseconds(longestWaitNanoseconds) }
        /// The number of waiting jobs moved into the pool from lower classes, because work of the pool's class awaits
        /// them (rule I4).
        public let movedIn: UInt64
        /// The number of running jobs of this class that were raised by the effects of a higher class on their thread.
        public let raisedByEffects: UInt64
        /// The number of running jobs of this class that were raised by a fence, because the kernel refuses to raise
        /// the thread.
        public let raisedByFence: UInt64
        /// The number of jobs raised by effects or by a fence because they hold a lock (rule I2).
        public let raisedForLock: UInt64
        /// The number of times that higher classes began to stand aside for this one (rule C7).
        public let starvationWindows: UInt64
        /// The number of jobs of this class that took longer than its limit.
        public let stalls: UInt64
        /// The number of jobs and lanes run so far.
        public let jobsRun: UInt64
        /// The number of jobs and lanes that a worker took from another worker's queue.
        public let nodesStolen: UInt64
        /// The number of times that a worker went to sleep.
        public let timesParked: UInt64
        /// The number of timers that have fired for work of the class.
        public let timersFired: UInt64
        /// The number of times that a thread woke up for such a timer. Timers that fire together share one.
        public let timerWakeUps: UInt64

        // As numbers, so that the encoded form is readable and names the unit.
        let widthChangeDelayNanoseconds: UInt64
        let processorTimeNanoseconds: UInt64
        let oldestWaitNanoseconds: UInt64
        let longestWaitNanoseconds: UInt64
    }

    /// The number of processors that the scheduler counts on.
    public let processors: Int

    /// The quota of processor time, and what the low classes leave of it; `nil` without a quota that the processors
    /// could use up.
    public let quota: ProcessorQuota?

    /// The pools, from the highest class to the lowest.
    public let pools: [Pool]

    /// The number of waiting tasks that were moved to a higher pool because work there waits for them (rule I4).
    public let tasksMoved: UInt64

    /// The number of running tasks that were raised because work of a higher class waits for them (rule I4).
    public let runningPromoted: UInt64

    /// The number of times that higher classes began to stand aside for a class that was kept off the processors for
    /// too long (rule C7).
    public let starvationWindows: UInt64

    /// The number of fences raised. Behind a fence, competitors take no jobs, so that promoted work gets through.
    public let fencesRaised: UInt64

    /// The number of times that a job declared blocking.
    public let blockedDeclared: UInt64

    /// The number of times that a job was seen to block without a declaration.
    public let blockedDetected: UInt64

    /// The number of blocked workers without a stand-in, because the limit was reached.
    public let uncompensated: UInt64

    /// The number of jobs that kept their worker for too long: 0.25 s at userInteractive, 10 s at background.
    public let stalls: UInt64

    /// The number of threads that could not be created. Each is tried again while there is work.
    public let threadStartFailures: UInt64

    /// The limits that the scheduler has reached so far, in the order of their names.
    public let limitsReached: [SchedulerLimit]

    /// The number of times that a worker or another thread reported an event to admission, under its lock.
    public let admissionEntries: UInt64

    /// The number of turns of the scheduler's loop: another thread woke the loop, or its timer fired.
    public let loopTurns: UInt64

    /// The number of times that the loop looked through the queues and at the workers for awaited work (rule I4).
    public let looks: UInt64

    /// The part of the classes' effects that the process's privileges allow: `privileged`, `reversible`, `oneWay` or
    /// `denied`; `nil` when effects are switched off.
    public let effectMode: String?

    /// Whether a call is promoted while it waits for an actor without an executor of its own (rule I4). `false` if the
    /// running concurrency library hides the state of its actors.
    public let promotesWaitingActors: Bool

    /// The background activities on the scheduler, in the order of their identifiers (rule S5).
    public let activities: [BackgroundActivityState]
}

extension SchedulerCore {
    func snapshot() -> SchedulerSnapshot {
        let counters = group.admission.counters
        return SchedulerSnapshot(
            processors: group.width,
            quota: quotaSnapshot(),
            pools: QoSClass.descending.map { qosClass in
                group.pools[qosClass.rank].snapshot(
                    group.admission.record(rank: qosClass.rank), group.timerTally.timers(for: qosClass))
            },
            tasksMoved: group.promotions.moved.load(ordering: .relaxed),
            runningPromoted: group.promotions.running.load(ordering: .relaxed),
            starvationWindows: counters.windows,
            fencesRaised: counters.fencesRaised,
            blockedDeclared: group.blocking.declared.load(ordering: .relaxed),
            blockedDetected: group.blocking.detected.load(ordering: .relaxed),
            uncompensated: group.blocking.uncompensated.load(ordering: .relaxed),
            stalls: group.blocking.stalls.load(ordering: .relaxed),
            threadStartFailures: startFailures.load(ordering: .relaxed),
            limitsReached: group.limitsReached.withLock { $0.sorted { $0.rawValue < $1.rawValue } },
            admissionEntries: group.admission.entries,
            loopTurns: group.loopCounters.turns.load(ordering: .relaxed),
            looks: group.loopCounters.looks.load(ordering: .relaxed),
            effectMode: group.profile?.capabilities.mode.rawValue,
            promotesWaitingActors: ConcurrencyRuntime.seesWaitingActors,
            activities: activityStates())
    }

    /// The states of the background activities. The states are made outside of the lock.
    private func activityStates() -> [BackgroundActivityState] {
        let sources = activities.withLock { $0 }
        return sources.flatMap { $0() ?? [] }.sorted { $0.activity.identifier < $1.activity.identifier }
    }

    /// Adds the background activities of a scheduler of theirs, and forgets those of which the scheduler is gone.
    func show(_ states: @escaping @Sendable () -> [BackgroundActivityState]?) {
        let former = activities.withLock { $0 }
        let isThere = former.map { $0() != nil }
        activities.withLock { sources in
            // Others may have been added meanwhile, behind these.
            let later = sources.dropFirst(former.count)
            sources = zip(former, isThere).filter(\.1).map(\.0) + later + [states]
        }
    }
}

extension ClassPool {
    func snapshot(_ admitted: ClassAdmission, _ timers: EnergySnapshot.Timers) -> SchedulerSnapshot.Pool {
        var (queued, run, stolen, parked) = (0, UInt64(0), UInt64(0), UInt64(0))
        let started = self.started
        for index in 0..<started {
            queued += workers[index].queue.count
            run &+= workers[index].jobSteps / 2
            stolen &+= workers[index].nodesStolen.value.load(ordering: .relaxed)
            parked &+= workers[index].timesParked.value.load(ordering: .relaxed)
        }
        let (since, now) = (counters.oldestSince.value.load(ordering: .relaxed), MonotonicClock.nanoseconds())
        let oldest = since > 0 && now > since && hasWork() ? now - since : 0
        return SchedulerSnapshot.Pool(
            qosClass: qosClass, width: width, running: admitted.running,
            widthLimit: admitted.widthLimit == .max ? nil : admitted.widthLimit,
            workers: started, blocked: blocked.load(ordering: .relaxed),
            standIns: counters.standIns.value.load(ordering: .relaxed),
            queued: queued, movedIn: counters.movedIn.value.load(ordering: .relaxed),
            raisedByEffects: counters.raisedByEffects.value.load(ordering: .relaxed),
            raisedByFence: counters.raisedByFence.value.load(ordering: .relaxed),
            raisedForLock: counters.raisedForLock.value.load(ordering: .relaxed), starvationWindows: admitted.windows,
            stalls: counters.stalls.value.load(ordering: .relaxed), jobsRun: run, nodesStolen: stolen,
            timesParked: parked,
            timersFired: timers.fired, timerWakeUps: timers.wakeUps,
            widthChangeDelayNanoseconds: counters.widthChange.value.load(ordering: .relaxed),
            processorTimeNanoseconds: processorTime(), oldestWaitNanoseconds: oldest,
            // A shown age counts: the longest wait is never less than an age that a reader saw.
            longestWaitNanoseconds: counters.longestWait.value.max(oldest, ordering: .relaxed).newValue)
    }

    /// Returns the processor time of the pool's threads so far, including ended threads. It never decreases.
    ///
    /// The clocks are read outside of the lock. If a thread ended meanwhile, its time may be on both sides or on none.
    private func processorTime() -> UInt64 {
        while true {
            let ended = counters.ended.withLock { $0 }
            var used: UInt64 = 0
            for index in 0..<capacity {
                let thread = workers[index].threadID.load(ordering: .relaxed)
                if thread != 0 { used &+= ThreadClock.nanoseconds(of: ThreadID(rawValue: thread)) ?? 0 }
            }
            if counters.ended.withLock({ $0.threads }) == ended.threads { return ended.processorTime &+ used }
        }
    }
}
