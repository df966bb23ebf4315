import BenchCore
import QoSCore
import QoSRuntime

/// The workloads by benchmark and case.
enum Workloads {
    static func make(_ options: PeerOptions) -> (any Workload)? {
        let caseName = options.caseName
        if options.peer == .nio { return pool(options) }
        return switch (options.benchmark, caseName.name) {
        case ("B1", let name):
            Foreground(rawValue: name).map {
                LoadedForeground(
                    foreground: $0, load: caseName["rho"], piece: UInt64(caseName["low"] * 1e6),
                    lowClasses: caseName["beside"] == 1 ? [.background] : [.default, .utility, .background])
            }
        case ("QUOTA", "requests"):
            LoadedForeground(
                foreground: .userInitiated, load: caseName["rho"], piece: UInt64(caseName["low"] * 1e6),
                lowClasses: caseName["beside"] == 1 ? [.background] : [.default, .utility, .background],
                quota: caseName["quota"])
        case ("B2", "two-hops"): TwoHopWake(spinners: Int(caseName["spinners"]))
        case ("B3", _): cost(caseName)
        case ("B4", "running"): RunningPromotion()
        case ("B5", "task"): WaitingPromotion()
        case ("B5", "awaited"), ("B5", "raised"), ("B5", "raised-first"):
            QueuedState(number: Int(caseName["state"])).map { StatePromotion(state: $0, way: caseName.name) }
        case ("B5", "default-actor"): ActorPromotion(usesSerialExecutor: false)
        case ("B5", "serial-executor"): ActorPromotion(usesSerialExecutor: true)
        case ("B5", "serial-queue"): QueuePromotion()
        case ("B5", "raise"): ExplicitRaise(waiting: Int(caseName["waiting"]))
        case ("B5", "operation-chain"): OperationChainPromotion(length: Int(caseName["operations"]))
        case ("B6", "starvation"): Starvation(hasLow: caseName["low"] != 0)
        case ("B7", "undeclared"): BlockingJobs(jobs: Int(caseName["jobs"]), areDeclared: false)
        case ("B7", "declared"): BlockingJobs(jobs: Int(caseName["jobs"]), areDeclared: true)
        case ("B8", "many"): QoSClass.allCases.dropFirst(Int(caseName["rank"])).first.map { ManyTimers(qosClass: $0) }
        case ("B8", "under-load"): TimersUnderLoad()
        case ("B8", "asleep"): SleepingTasks(count: Int(caseName["tasks"]))
        case ("B9", "load"): DiskLoad(mix: DiskMix(caseName))
        case ("B9", _): DiskForeground(caseName)
        case ("B11", "thermal"): ThermalEvent()
        case ("B12", "idle"): IdleProcess()
        case ("B13", _): OperationShape(caseName).map(OperationCost.init(shape:))
        case ("B14", "lock"): HiddenLock({ _ in MutexResource() }, load: caseName["rho"])
        case ("B14", "malloc"): HiddenLock({ _ in MallocResource() }, load: caseName["rho"])
        case ("B14", "sqlite"): HiddenLock({ _ in try SQLiteResource() }, load: caseName["rho"])
        case ("B14", "own-mutex"): HiddenLock({ _ in RegistryResource() }, load: caseName["rho"])
        case ("B14", "own-operations"): HiddenLock(OperationResource.init, load: caseName["rho"])
        case ("B14", "own-widths"): HiddenLock(WidthResource.init, load: caseName["rho"])
        case ("B15", _): lock(caseName)
        case ("B16", _): OrdinaryOperation.make(caseName)
        case ("B17", "jobs"):
            JobCost(
                classes: Int(caseName["classes"]), work: UInt64(caseName["us"] * 1000),
                submitter: Int(caseName["submitter"]))
        case ("B18", "pressure"): ForeignLoad(isGoverned: caseName["governed"] != 0)
        case ("B19", let name):
            LibraryThreads.Way(rawValue: name).map { LibraryThreads(way: $0, isLoaded: caseName["low"] != 0) }
        default: nil
        }
    }

    /// The cases that a pool of threads without tasks can run.
    private static func pool(_ options: PeerOptions) -> (any Workload)? {
        let caseName = options.caseName
        return switch (options.benchmark, caseName.name) {
        case ("B1", "foreground"): PoolForeground(load: caseName["rho"], piece: UInt64(caseName["low"] * 1e6))
        case ("B3", "outside"): OutsideCost(pool: PoolForeground.makePool())
        default: nil
        }
    }

    private static func lock(_ caseName: CaseName) -> (any Workload)? {
        let name = caseName.name
        if name.hasPrefix("crowd-"), let kind = LockCrowd.Kind(rawValue: String(name.dropFirst(6))) {
            return LockCrowd(kind: kind, tasks: Int(caseName["tasks"]))
        }
        if let kind = LockCost.Kind(rawValue: name) { return LockCost(kind: kind) }
        guard name.hasPrefix("handover-"), let kind = LockCost.Kind(rawValue: String(name.dropFirst(9))) else {
            return nil
        }
        return LockHandover(kind)
    }

    private static func cost(_ caseName: CaseName) -> (any Workload)? {
        switch caseName.name {
        case "yield": YieldCost(tasks: 100)
        case "yield-few": YieldCost(tasks: Int(caseName["tasks"]))
        case "turns": YieldTurns(tasks: Int(caseName["tasks"]))
        case "group": GroupCost()
        case "detached": DetachedCost()
        case "outside": OutsideCost(pool: nil)
        case "hop-default-actor": HopCost(usesSerialExecutor: false, callers: 1)
        case "hop-serial-executor": HopCost(usesSerialExecutor: true, callers: 1)
        case "hop-contended": HopCost(usesSerialExecutor: false, callers: 8)
        case "hop-serial-contended": HopCost(usesSerialExecutor: true, callers: 8)
        case "item-tasks": ItemCost(kind: .tasks)
        case "item-serial": ItemCost(kind: .items(.serial))
        case "item-concurrent": ItemCost(kind: .items(.concurrent))
        case "item-sync": SyncCost()
        case "ping-pong": PingPongCost()
        case "wake": WakeLatency(gap: UInt64(caseName["gap"] * 1000))
        default: nil
        }
    }
}
