import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime
import Synchronization

/// B5, an actor: work of background on the actor stands in the queue behind unrelated background jobs when a task of
/// userInitiated calls the actor. From the call until the actor runs it.
struct ActorPromotion: Workload {
    let usesSerialExecutor: Bool

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let latencies = Latencies(capacity: 1000)
        let deadline = bench_now() + UInt64(seconds * 1e9)
        SerialTargetActor.scheduler.withLock { $0 = stage.scheduler }
        var void = 0
        repeat {
            let backlog = await Backlog(on: stage)
            let queued = submitWork(on: stage)
            await stage.outside.sleep(seconds: 0.005)
            let (called, answered) = await stage.detached(.userInitiated) {
                (bench_now(), await callTarget())
            }.value
            let ran = await queued.value
            // Only a call that found the actor waiting in the queue counts.
            if ran > called { latencies.add(Double(answered) - Double(called)) } else { void += 1 }
            await backlog.waitForEnd()
        } while bench_now() < deadline
        var figures = RawFigures(["void_samples": Double(void)])
        figures.addLatencies("start", latencies.values)
        return figures
    }
}

extension ActorPromotion {
    /// Submits a job of background to the actor: being isolated to it, the task is queued there from its start.
    private func submitWork(on stage: Stage) -> Task<UInt64, Never> {
        usesSerialExecutor
            ? stage.detached(.background) { @SerialTargetActor in bench_now() }
            : stage.detached(.background) { @DefaultTargetActor in bench_now() }
    }

    /// When the actor ran this call.
    private func callTarget() async -> UInt64 {
        await usesSerialExecutor ? SerialTargetActor.time() : DefaultTargetActor.time()
    }
}

/// An actor with the executor that actors have.
@globalActor
actor DefaultTargetActor {
    static let shared = DefaultTargetActor()

    @DefaultTargetActor static func time() -> UInt64 { bench_now() }
}

/// An actor with a serial executor of ours.
@globalActor
actor SerialTargetActor {
    static let shared = SerialTargetActor()

    /// Whose executor; set before the first use of the actor.
    static let scheduler = Mutex<QoSScheduler?>(nil)

    private let executor: QoSSerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private init() {
        guard let scheduler = Self.scheduler.withLock({ $0 }) else {
            PeerMain.fail("\(NoSchedulerError())", status: 64)
        }
        executor = scheduler.makeSerialExecutor()
    }

    @SerialTargetActor static func time() -> UInt64 { bench_now() }
}
