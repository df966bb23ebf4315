import QoSCore
import QoSRuntime
import Synchronization

/// A task that runs operations, one after the other, all of one level on one scheduler.
///
/// It serves more than one operation only as long as its task is untouched: once the task was cancelled or raised it ends with
/// the operation that this was meant for.
// SAFETY: the constants and the atomic apart, everything is read and written under the lock of the operations' domain.
final class Runner: @unchecked Sendable {
    let scheduler: QoSScheduler
    /// The level whose executor the task prefers.
    let level: QoSLevel
    /// The task, once it exists and until it has ended.
    private(set) var task: Task<Void, Never>?
    private(set) var isCancelled = false
    private var raisedTo: QoSClass?
    private var hasEnded = false
    private let scope = Atomic<UInt>(0)

    init(scheduler: QoSScheduler, level: QoSLevel) {
        self.scheduler = scheduler
        self.level = level
    }

    /// The class of its task, as far as that follows from its operation.
    var taskClass: QoSClass { raisedTo ?? level.qosClass }

    /// Whether it may go on with an operation of that level in a queue of that scheduler.
    func mayRun(_ next: QoSLevel, on other: QoSScheduler) -> Bool {
        next == level && other === scheduler && !isCancelled && raisedTo == nil
    }

    /// The runner's task begins to stand in the execution of an operation.
    func entered() {
        scope.store(WorkScope.placeOfTask, ordering: .relaxed)
    }

    /// Whether the calling code belongs to the execution of the runner's operation, which cannot end before it: the runner's own task,
    /// or a child of that, and no other task that was started there.
    var isEnteredByCaller: Bool {
        let place = WorkScope.placeOfTask
        return place != 0 && place == scope.load(ordering: .relaxed)
    }

    /// The task was made.
    ///
    /// - Returns: what was asked of it before.
    func started(_ task: Task<Void, Never>) -> TaskRequest {
        guard !hasEnded else { return TaskRequest(runner: self, task: nil) }
        self.task = task
        return TaskRequest(runner: self, task: task, cancels: isCancelled, raisesTo: raisedTo)
    }

    /// Its operation was cancelled.
    func cancelled() -> TaskRequest {
        isCancelled = true
        return TaskRequest(runner: self, task: task, cancels: true)
    }

    /// Its operation was raised; `nil` when the class stays.
    func raised(to other: QoSClass) -> TaskRequest? {
        guard other > raisedTo ?? level.qosClass else { return nil }
        raisedTo = other
        return TaskRequest(runner: self, task: task, raisesTo: other)
    }

    /// It has nothing more to run.
    func ended() {
        hasEnded = true
        task = nil
    }
}

/// What is to be done to a runner's task, outside of the lock.
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
