import BenchCore

/// B16: what programs do all the time, each as the cost of one.
enum OrdinaryOperation {
    /// The workload of a case.
    static func make(_ caseName: CaseName) -> (any Workload)? {
        switch caseName.name {
        case "actor-call": HopCost(usesSerialExecutor: false, callers: 1)
        case "actor-contended": HopCost(usesSerialExecutor: false, callers: 8)
        case "stream": StreamCost()
        case "stream-ping-pong": StreamPingPong()
        case "async-let": AsyncLetCost()
        case "group-1000": CrowdCost(children: 1000, isGroup: true)
        case "fan-out-8": CrowdCost(children: 8, isGroup: true)
        case "tasks-10000": CrowdCost(children: 10_000, isGroup: false)
        case "detached": DetachedCost()
        case "dispatch-continuation": DispatchResumption()
        case "main-actor": MainActorCost()
        case "sleeps": SleepCost()
        case "yield-one": YieldCost(tasks: 1)
        case "cancel-sleepers": CancelledSleepers()
        default: nil
        }
    }
}
