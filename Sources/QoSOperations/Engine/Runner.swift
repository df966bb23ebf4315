import QoSCore
import QoSRuntime
import Synchronization

/// A task that runs operations, one after the other, all of one level on one scheduler.
///
/// It runs more than one operation only while its task is unchanged. After the task was cancelled or raised for an
/// operation, the runner ends with that operation.
// SAFETY: the constants and the atomic apart, everything is read and written under the lock of the operations' engine.
final class Runner: @unchecked Sendable {
    let scheduler: QoSScheduler
    /// The level whose executor the task prefers.
    let level: QoSLevel
    /// The task, from its creation to its end.
    private(set) var task: Task<Void, Never>?
    private(set) var isCancelled = false
    private var raisedTo: QoSClass?
    private var hasEnded = false
    private let scope = Atomic<UInt>(0)

    init(scheduler: QoSScheduler, level: QoSLevel) {
        self.scheduler = scheduler
        self.level = level
    }

    /// The class of the task, as far as it follows from the operation.
    var taskClass: QoSClass { raisedTo ?? level.qosClass }

    /// Whether the runner may go on with an operation of that level in a queue of that scheduler.
    func mayRun(_ next: QoSLevel, on other: QoSScheduler) -> Bool {
        next == level && other === scheduler && !isCancelled && raisedTo == nil
    }

    /// Notes that the runner's task begins to run an operation.
    func entered() {
        scope.store(WorkScope.placeOfTask, ordering: .relaxed)
    }

    /// Whether the calling code belongs to the run of the runner's operation, which cannot end before it. That is the
    /// runner's own task or a child of it. Other tasks that were started there do not belong.
    var isEnteredByCaller: Bool {
        let place = WorkScope.placeOfTask
        return place != 0 && place == scope.load(ordering: .relaxed)
    }

    /// Notes that the task was made.
    ///
    /// - Returns: the earlier requests.
    func started(_ task: Task<Void, Never>) -> TaskRequest {
        guard !hasEnded else { return TaskRequest(runner: self, task: nil) }
        self.task = task
        return TaskRequest(runner: self, task: task, cancels: isCancelled, raisesTo: raisedTo)
    }

    /// Notes that the operation was cancelled.
    func cancelled() -> TaskRequest {
        isCancelled = true
        return TaskRequest(runner: self, task: task, cancels: true)
    }

    /// Notes that the operation was raised; returns `nil` if the class stays.
    func raised(to other: QoSClass) -> TaskRequest? {
        guard other > raisedTo ?? level.qosClass else { return nil }
        raisedTo = other
        return TaskRequest(runner: self, task: task, raisesTo: other)
    }

    /// Notes that the runner has nothing more to run.
    func ended() {
        hasEnded = true
        task = nil
    }
}

/// The requests to a runner's task, to carry out outside of the lock.
struct TaskRequest: Sendable {
    let runner: Runner
    let task: Task<Void, Never>?
    var cancels = false
    var raisesTo: QoSClass?

    func perform() {
        guard let task else { return }
        if let raisesTo { runner.scheduler.raise(task, to: raisesTo) }
        if cancels { task.cancel() }
    }
}
