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
        /// How many it has.
        public let workers: Int
        /// Jobs and lanes that wait in workers' queues; what has come in since a worker looked last is not counted.
        public let queued: Int
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

    /// How often a thread could not be created. Each is tried again while there is work.
    public let threadStartFailures: UInt64

    /// How much of the classes' effects the process's privileges allow: `privileged`, `reversible`, `oneWay` or `denied`;
    /// `nil` when effects are switched off.
    public let effectMode: String?
}

extension SchedulerCore {
    func snapshot() -> SchedulerSnapshot {
        SchedulerSnapshot(
            processors: width,
            pools: QoSClass.descending.map { unsafe pools[$0.rank].snapshot() },
            tasksMoved: tasksMoved.load(ordering: .relaxed),
            runningPromoted: runningPromoted.load(ordering: .relaxed),
            threadStartFailures: startFailures.load(ordering: .relaxed),
            effectMode: profile?.capabilities.mode.rawValue)
    }
}

extension ClassPool {
    func snapshot() -> SchedulerSnapshot.Pool {
        let started = PoolWord(rawValue: word.load(ordering: .relaxed)).started
        var (queued, run, stolen, parked) = (0, UInt64(0), UInt64(0), UInt64(0))
        for index in 0..<started {
            queued += unsafe workers[index].queued.load(ordering: .relaxed)
            run &+= unsafe workers[index].jobsRun.load(ordering: .relaxed)
            stolen &+= unsafe workers[index].nodesStolen.load(ordering: .relaxed)
            parked &+= unsafe workers[index].timesParked.load(ordering: .relaxed)
        }
        return SchedulerSnapshot.Pool(
            qosClass: qosClass, width: width, workers: started, queued: queued, jobsRun: run, nodesStolen: stolen,
            timesParked: parked)
    }
}
