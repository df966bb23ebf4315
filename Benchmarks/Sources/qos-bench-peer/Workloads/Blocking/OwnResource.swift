import CBenchShims
import QoSCore
import QoSOperations
import QoSRuntime

/// The lock that all operations of the process share: operations that are added to a suspended queue and cancelled.
final class OperationResource: SharedResource {
    private let queue: QoSOperationQueue

    init(_ stage: Stage) throws {
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        queue = QoSOperationQueue("shared", scheduler: scheduler, isSuspended: true)
    }

    func useShortly() -> UInt64 {
        let start = bench_now()
        addAndCancel()
        return bench_now() - start
    }

    func useForLonger() {
        for _ in 0..<10 { addAndCancel() }
    }

    private func addAndCancel() {
        let operation = QoSOperation {}
        do { try queue.add(operation) } catch { PeerMain.fail("\(error)", status: 1) }
        operation.cancel()
    }
}

/// Admission and the record of width changes: the low class changes a limit that never binds, the high class submits.
final class WidthResource: SharedResource {
    private let scheduler: QoSScheduler
    private let stage: Stage

    init(_ stage: Stage) throws {
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        (self.scheduler, self.stage) = (scheduler, stage)
    }

    func useShortly() -> UInt64 {
        let start = bench_now()
        stage.detached(.userInteractive) {}
        return bench_now() - start
    }

    func useForLonger() {
        for limit in 0..<10 { scheduler.setWidthLimit(limit.isMultiple(of: 2) ? 64 : nil, for: .utility) }
    }
}

/// The registry of locks: a `QoSMutex` for which each class's thread has to sleep at times, and so is noted there.
final class RegistryResource: SharedResource {
    private let mutex = QoSMutex(0, name: "shared")

    func useShortly() -> UInt64 {
        let start = bench_now()
        return mutex.withLock { _ in
            let waited = bench_now() - start
            bench_work(2_000)
            return waited
        }
    }

    func useForLonger() {
        mutex.withLock { _ in _ = bench_work(20_000) }
    }
}
