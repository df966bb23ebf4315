public import QoSCore
import QoSKernel
import Synchronization

extension QoSScheduler {
    /// What the scheduler has done and has to do, at this moment.
    ///
    /// The numbers are read one after the other while the scheduler goes on: each is right, together they may be off by what
    /// happened meanwhile. Some microseconds; any thread.
    public var snapshot: SchedulerSnapshot { core.snapshot() }

    /// What the kernel gave each thread, in the order in which they started.
    package var workerEffects: [WorkerEffects] { core.effects.withLock { $0 } }
}

/// What a scheduler has done and has to do.
public struct SchedulerSnapshot: Sendable, Hashable, Codable {
    /// One class's pool.
    public struct Pool: Sendable, Hashable, Codable {
        /// The class.
        public let qosClass: QoSClass
        /// How many workers it may have.
        public let width: Int
        /// How many workers are at work now, as admission counts them; blocked and parked ones are not.
        public let running: Int
        /// The limit of `running` by ``QoSScheduler/setWidthLimit(_:for:)``; 0 pauses the class, `nil` is none.
        public let widthLimit: Int?
        /// How long the last change of `widthLimit` took to take effect, nanoseconds; 0 before the first.
        public let widthChangeNanoseconds: UInt64
        /// How many it has; more than `width` while some stand in for blocked ones, and for a moment after.
        public let workers: Int
        /// How many of them are known to be blocked.
        public let blocked: Int
        /// How many threads were started so far to stand in for blocked workers.
        public let standIns: UInt64
        /// The run time of its work: how much processor time its threads have used so far, nanoseconds.
        public let processorNanoseconds: UInt64
        /// Jobs and lanes that wait in workers' queues; what has come in since a worker looked last is not counted.
        public let queued: Int
        /// For how long the job that has waited longest waits, nanoseconds; 0 when none waits behind busy workers. Exact to a
        /// millisecond or a sixty-fourth.
        public let oldestWaitNanoseconds: UInt64
        /// The longest that any job was seen to wait so far, nanoseconds; to the same precision.
        public let longestWaitNanoseconds: UInt64
        /// How many waiting jobs of lower classes were moved into this pool because something of this class waits for them (rule I4).
        public let movedIn: UInt64
        /// How many running jobs of this class were raised by the effects of a higher one on their thread.
        public let raisedByEffects: UInt64
        /// How many running jobs of this class were raised by a fence, since the kernel does not let the thread be raised.
        public let raisedByFence: UInt64
        /// How many of both were raised because they hold a lock (rule I2).
        public let raisedForLock: UInt64
        /// How often higher classes began to stand aside for this one (rule C7).
        public let starvationWindows: UInt64
        /// How often a job of this class took longer than its limit.
        public let stalls: UInt64
        /// Jobs and lanes run so far.
        public let jobsRun: UInt64
        /// How many of those a worker took from another one's queue.
        public let nodesStolen: UInt64
        /// How often a worker went to sleep.
        public let timesParked: UInt64
    }

    /// How many processors the scheduler counts on.
    public let processors: Int

    /// The pools, from the highest class to the lowest.
    public let pools: [Pool]

    /// How many waiting tasks were moved to a higher pool because something there waits for them (rule I4).
    public let tasksMoved: UInt64

    /// How many running tasks were raised because something of a higher class waits for them (rule I4).
    public let runningPromoted: UInt64

    /// How often higher classes began to stand aside for one that was kept off the processors for too long (rule C7).
    public let starvationWindows: UInt64

    /// How many fences were raised: competitors that took no jobs so that promoted work got through.
    public let fencesRaised: UInt64

    /// How often a job declared that it blocks.
    public let blockedDeclared: UInt64

    /// How often a job was seen to block that had not declared it.
    public let blockedDetected: UInt64

    /// How often nobody could stand in for a blocked worker, because the limit was reached.
    public let uncompensated: UInt64

    /// How often a job kept its worker for longer than its class should: 0.25 s at userInteractive, 10 s at background.
    public let stalls: UInt64

    /// How often a thread could not be created. Each is tried again while there is work.
    public let threadStartFailures: UInt64

    /// How much of the classes' effects the process's privileges allow: `privileged`, `reversible`, `oneWay` or `denied`;
    /// `nil` when effects are switched off.
    public let effectMode: String?

    /// Whether a call that waits for the turn of an actor without an executor of its own is promoted (rule I4): unless the concurrency
    /// library is one whose actors cannot be looked into.
    public let promotesWaitingActors: Bool
}

extension SchedulerCore {
    func snapshot() -> SchedulerSnapshot {
        let counters = group.admission.counters
        return SchedulerSnapshot(
            processors: group.width,
            pools: QoSClass.descending.map { qosClass in
                unsafe group.pools[qosClass.rank].snapshot(group.admission.record(rank: qosClass.rank))
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
            effectMode: group.profile?.capabilities.mode.rawValue,
            promotesWaitingActors: ConcurrencyRuntime.seesWaitingActors)
    }
}

extension ClassPool {
    func snapshot(_ admitted: ClassAdmission) -> SchedulerSnapshot.Pool {
        var (queued, run, stolen, parked) = (0, UInt64(0), UInt64(0), UInt64(0))
        let started = self.started
        for index in 0..<started {
            queued += unsafe workers[index].queue.count
            run &+= unsafe workers[index].jobSteps.load(ordering: .relaxed) / 2
            stolen &+= unsafe workers[index].nodesStolen.load(ordering: .relaxed)
            parked &+= unsafe workers[index].timesParked.load(ordering: .relaxed)
        }
        let (since, now) = (counters.oldestSince.load(ordering: .relaxed), MonotonicClock.nanoseconds())
        let oldest = since > 0 && now > since && hasWork() ? now - since : 0
        return SchedulerSnapshot.Pool(
            qosClass: qosClass, width: width, running: admitted.running,
            widthLimit: admitted.widthLimit == .max ? nil : admitted.widthLimit,
            widthChangeNanoseconds: counters.widthChange.load(ordering: .relaxed), workers: started,
            blocked: blocked.load(ordering: .relaxed), standIns: counters.standIns.load(ordering: .relaxed),
            processorNanoseconds: processorTime(), queued: queued,
            oldestWaitNanoseconds: oldest,
            // What is shown counts: the longest is never less than an age that somebody saw.
            longestWaitNanoseconds: counters.longestWait.max(oldest, ordering: .relaxed).newValue,
            movedIn: counters.movedIn.load(ordering: .relaxed),
            raisedByEffects: counters.raisedByEffects.load(ordering: .relaxed),
            raisedByFence: counters.raisedByFence.load(ordering: .relaxed),
            raisedForLock: counters.raisedForLock.load(ordering: .relaxed), starvationWindows: admitted.windows,
            stalls: counters.stalls.load(ordering: .relaxed), jobsRun: run, nodesStolen: stolen, timesParked: parked)
    }

    /// What the pool's threads have used of the processors so far, those that have ended too. Never less than it was before.
    ///
    /// The clocks are read outside of the lock; if a thread ended meanwhile, its time may be on both sides or on none.
    private func processorTime() -> UInt64 {
        while true {
            let ended = counters.ended.withLock { $0 }
            var used: UInt64 = 0
            for index in 0..<capacity {
                let thread = unsafe workers[index].threadID.load(ordering: .relaxed)
                if thread != 0 { used &+= ThreadClock.nanoseconds(of: ThreadID(rawValue: thread)) ?? 0 }
            }
            if counters.ended.withLock({ $0.threads }) == ended.threads { return ended.processorTime &+ used }
        }
    }
}
