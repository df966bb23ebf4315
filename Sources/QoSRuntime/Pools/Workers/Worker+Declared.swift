import QoSCore
import QoSEventLoop
import Synchronization

// Work that has declared its behavior at a shutdown.

extension Worker {
    /// Whether the worker is in work for which a shutdown does not wait.
    var isContinuing: Bool {
        declared.load(ordering: .sequentiallyConsistent) == ShutdownBehavior.continue.rawValue
    }

    /// Notes that the calling worker is about to run a job with a declared behavior.
    static func begin(_ behavior: ShutdownBehavior?, of job: UnownedJob, _ worker: WorkerRef) {
        guard let behavior else { return }
        let group = worker.group
        worker.value.declared.store(behavior.rawValue, ordering: .sequentiallyConsistent)
        guard group.isEnding else { return }
        switch behavior {
        case .continue: group.loop.wake()
        case .skip: ConcurrencyRuntime.cancel(job)
        case .finish: break
        }
    }

    /// Runs a part of the calling worker's job that declares a behavior of its own.
    static func performing(_ behavior: ShutdownBehavior, _ body: () -> Void) {
        guard let worker = current else { return body() }
        let around = worker.value.declared.load(ordering: .relaxed)
        worker.value.declared.store(behavior.rawValue, ordering: .sequentiallyConsistent)
        let group = worker.group
        if behavior == .continue, group.isEnding { group.loop.wake() }
        body()
        worker.value.declared.store(around, ordering: .sequentiallyConsistent)
        if behavior == .continue, group.isEnding { group.loop.wake() }
    }
}
