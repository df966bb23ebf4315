// Everything the runtime uses of the concurrency library that is not plain public API: in the files of this name, here and where the
// runtime's own executors are.
//
// The library's custom executors are still an underscored or SPI feature in Swift 6.3. Installing executors for the whole
// process, being asked for sleeps, and reading a queued task's live priority cannot be had otherwise. Users of this
// package need no SPI: they call public functions of ours.

import CQoSShims
import Glibc
import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// The few calls into the concurrency library that have no public Swift spelling.
package enum ConcurrencyRuntime {
    /// Whether something of a higher class waits for the job's task: its priority was raised above the one it was
    /// created with.
    package static func isEscalated(_ job: UnownedJob) -> Bool {
        // SAFETY: the task is alive while it, or the job that resumes it, is enqueued.
        task(of: job).map { unsafe basePriority($0.pointer) < job.priority.rawValue } ?? false
    }

    /// Returns the task that a queued job is, or resumes; `nil` for the library's own helpers.
    @inline(__always)
    static func task(of job: UnownedJob) -> TaskAddress? {
        isTask(job) ? TaskAddress(rawValue: JobNode(job).address) : yieldedTask(of: job)
    }

    /// Whether a job that was to be enqueued later only resumes a task that sleeps, and so costs next to nothing.
    ///
    /// A sleeping task hands its executor such a helper: a task without a priority, which no other has. Running it enqueues
    /// the task that sleeps.
    package static func isResumption(_ job: UnownedJob) -> Bool {
        job.priority.rawValue == 0
    }

    /// Runs a job for which ``isResumption(_:)`` holds, on the calling thread.
    ///
    /// The helper prefers no executor. Run as one of ours it would go on to the process's default executor first, and wait
    /// there for a thread.
    package static func runResumption(_ job: UnownedJob) {
        // SAFETY: two null words are the generic executor's spelling: `SerialExecutorRef::generic()` in the library's
        // `Executor.h`.
        let generic = unsafe unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
        unsafe job.runSynchronously(on: generic)
    }

    /// Whether jobs of the running concurrency library have their executor's words where ``JobNode`` expects them, and
    /// their flags behind.
    ///
    /// Tried once, on a job of its own that does nothing.
    package static let hasExpectedLayout: Bool = {
        let job = UnownedJob(_swift_createJobForTestingOnly(priority: .high) {})
        let expected = JobNode(job).address + UInt(JobNode.linkOffset)
        let flags = Self.flags(of: job)
        let flagsMatch = flags & 0xFF == ExecutorJob(job).kind.rawValue && flags >> 8 & 0xFF == job.priority.rawValue
        let matches =
            unsafe ExecutorJob(job).withUnsafeExecutorPrivateData { words in
                UInt(bitPattern: words.baseAddress) == expected && words.count >= 2 * MemoryLayout<UInt>.size
            } && flagsMatch
        // Running it frees it. Not as the process's executor's: asking for that would create it.
        let executor = Immediate()
        unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        withExtendedLifetime(executor) {}
        if matches, !isLayoutHidden { learnPrivateLayout() }
        return matches
    }()

    /// Whether the process asks to be run as if nothing private were known: the environment variable `QOS_LIBRARY_LAYOUT` is `unknown`.
    private static var isLayoutHidden: Bool {
        unsafe getenv("QOS_LIBRARY_LAYOUT").map { unsafe String(cString: $0) == "unknown" } ?? false
    }

    /// Finds out what of the running library's private layout is as it is expected: flags, continuation jobs, actors.
    private static func learnPrivateLayout() {
        isFlagsWordKnown.store(true, ordering: .relaxed)
        learnContinuationLayout()
        learnActorLayout()
        learnWaiterLayout()
    }

    /// Whether the flags behind the executor's words may be read.
    private static let isFlagsWordKnown = Atomic<Bool>(false)

    /// Whether a running task can be told from one that cannot be kept alive, and so be promoted.
    package static var seesRunningTasks: Bool { isFlagsWordKnown.load(ordering: .relaxed) }

    /// Runs jobs at once, on the thread that submits them.
    final class Immediate: TaskExecutor {
        func enqueue(_ job: UnownedJob) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Whether a job is a task itself, and not the library's own helper.
    @inline(__always)
    package static func isTask(_ job: UnownedJob) -> Bool {
        seesRunningTasks ? kind(of: job) == UInt32(ExecutorJob.Kind.task.rawValue) : ExecutorJob(job).kind == .task
    }

    /// Whether a job is a task that whoever retains it keeps alive.
    ///
    /// The child task of an `async let` is not: it lives in memory of its parent, which takes that back as soon as it has the
    /// result, and retaining has no effect on it.
    @inline(__always)
    static func isRetainableTask(_ job: UnownedJob) -> Bool {
        seesRunningTasks && flags(of: job) & (kindMask | asyncLetFlag) == UInt32(ExecutorJob.Kind.task.rawValue)
    }

    /// The bit of an `async let`'s child task in a job's flags (`JobFlags` in the library's `MetadataValues.h`).
    private static let asyncLetFlag: UInt32 = 1 << 28

    private static let kindMask: UInt32 = 0xFF

    /// What kind of a task it is, in its job's flags: which fragments its memory has.
    static func taskKind(of job: UnownedJob) -> UInt32 { flags(of: job) & taskKindMask }

    /// From `Task_IsChildTask` to `Task_IsAsyncLetTask` in the library's `MetadataValues.h`.
    private static let taskKindMask: UInt32 = 0x1F00_0000

    /// The flags of a job: kind in the first byte, priority in the second, what kind of task above.
    @inline(__always)
    private static func flags(of job: UnownedJob) -> UInt32 {
        let address = JobNode(job).address + UInt(JobNode.linkOffset + 2 * MemoryLayout<UInt>.size)
        // SAFETY: the job is alive; `hasExpectedLayout` holds the place against what the library says itself.
        return unsafe UnsafePointer<UInt32>(bitPattern: address).unsafelyUnwrapped.pointee
    }

    /// The kind of a job, as the library numbers them. Only where the layout is known.
    @inline(__always)
    static func kind(of job: UnownedJob) -> UInt32 { flags(of: job) & kindMask }

    /// The priority of a queued or running task as it is now: what it was queued with, or higher when something waits for it; or that of
    /// the highest call of the actor that a queued job serves. `nil` for a job of which no more is known than what it was queued with.
    package static func livePriority(_ job: UnownedJob) -> UInt8? {
        guard let task = task(of: job) else { return priorityOfServedActor(job) }
        // SAFETY: the caller knows that the task is alive.
        return unsafe currentPriority(task.pointer)
    }

    /// The node of a task: a task is its own job, and a handle is a reference to it.
    static func node<Success, Failure: Error>(of task: Task<Success, Failure>) -> JobNode {
        // SAFETY: `Task` is a frozen struct of one reference.
        JobNode(address: unsafe unsafeBitCast(task, to: UInt.self))
    }

    /// The calling task, to be told from others while it is alive; `nil` outside of tasks.
    package static var currentTask: TaskAddress? {
        unsafe cqos_current_task().map { TaskAddress(rawValue: UInt(bitPattern: $0)) }
    }

    /// Where a task-local value is kept that the calling code finds, of the innermost binding; 0 without one.
    ///
    /// A task's children look into its own bindings, whereas an unstructured task that it starts has copies: the same place means the
    /// same task, or a child of it, as long as the binding lasts.
    package static func placeOfBinding<Value>(of local: TaskLocal<Value>) -> UInt {
        // SAFETY: the library's own key for a task-local value is the address of the object that stands for it, which is a constant.
        let key = unsafe UnsafeRawPointer(Unmanaged.passUnretained(local).toOpaque())
        return UInt(bitPattern: unsafe taskLocalValue(key))
    }

    @_silgen_name("swift_task_localValueGet")
    private static func taskLocalValue(_ key: UnsafeRawPointer) -> UnsafeRawPointer?

    /// Keeps a task that is alive now alive until ``escalateAndRelease(_:to:)`` or ``release(_:)``; `false` for one that cannot be kept.
    static func retain(_ task: TaskAddress) -> Bool {
        guard isRetainableTask(JobNode(address: task.rawValue).job) else { return false }
        // SAFETY: a task is a reference-counted object, alive at this moment.
        _ = unsafe Unmanaged<AnyObject>.fromOpaque(task.pointer).retain()
        return true
    }

    /// Raises the priority of a retained task as if a higher one awaited it, and lets it go.
    static func escalateAndRelease(_ task: TaskAddress, to qosClass: QoSClass) {
        // SAFETY: the value that names the current task is the task object's address, and the task is retained.
        unsafe unsafeBitCast(task.rawValue, to: UnsafeCurrentTask.self).escalatePriority(to: qosClass.taskPriority)
        unsafe Unmanaged<AnyObject>.fromOpaque(task.pointer).release()
    }

    /// Lets a retained task go.
    static func release(_ task: TaskAddress) {
        // SAFETY: ``retain(_:)`` has retained it.
        unsafe Unmanaged<AnyObject>.fromOpaque(task.pointer).release()
    }

    /// Whether it is the executor of an actor that has none of its own: an executor is its object and, unless it is that actor itself, the
    /// witness table of `SerialExecutor` (`Executor.h`, `SerialExecutorRef`).
    static func isDefaultActor(_ executor: UnownedSerialExecutor) -> Bool {
        let reference = unsafe unsafeBitCast(executor, to: (object: UInt, implementation: UInt).self)
        return reference.object != 0 && reference.implementation == 0
    }

    /// Whether the calling code runs on an actor or another serial executor, whose turn it has.
    static var isOnSerialExecutor: Bool {
        // The generic executor is two null words (`Executor.h`, `SerialExecutorRef::generic()`).
        unsafe cqos_current_serial_executor() != nil
    }

    /// Ends the counting of references to an object that lives as long as the process.
    ///
    /// The concurrency library retains and releases the executor for each job that it enqueues; on one counter, which the processors
    /// then take from one another. `_swift_stdlib_immortalize` of the standard library takes the object out of it. Nothing may refer to
    /// the object weakly before.
    static func makeImmortal(_ object: AnyObject) {
        // SAFETY: it is retained for good.
        unsafe cqos_make_immortal(Unmanaged.passRetained(object).toOpaque())
    }

    /// Cancels the task of a job that is about to run; nothing for a job that is no task.
    static func cancel(_ job: UnownedJob) {
        guard isTask(job) else { return }
        // SAFETY: a job of kind `task` is the task object itself, and alive, since it has not run.
        unsafe unsafeBitCast(JobNode(job).address, to: UnsafeCurrentTask.self).cancel()
    }

    /// The priority of the calling task as it is now, escalations included; `nil` outside of tasks. As `withUnsafeCurrentTask` tells
    /// it, without retaining the task.
    static var priorityOfCurrentTask: UInt8? {
        // SAFETY: the task runs the calling code, so it is alive.
        unsafe cqos_current_task().map { unsafe currentPriority($0) }
    }

    /// Whether the calling task, which has a priority, was raised above the one it was created with.
    static var isCurrentTaskEscalated: Bool {
        // SAFETY: as above.
        unsafe cqos_current_task().map { unsafe basePriority($0) < currentPriority($0) } ?? false
    }

    /// The class that a live task was created with.
    static func baseClass(of task: TaskAddress) -> QoSClass? {
        QoSClass(rawPriority: unsafe basePriority(task.pointer))
    }

    @_silgen_name("swift_task_currentPriority")
    private static func currentPriority(_ task: UnsafeRawPointer) -> UInt8

    @_silgen_name("swift_task_basePriority")
    private static func basePriority(_ task: UnsafeRawPointer) -> UInt8
}

/// The identity of a task: its address. Valid only while the task is alive.
package struct TaskAddress: Hashable, Sendable {
    /// The address.
    package let rawValue: UInt

    var pointer: UnsafeRawPointer {
        unsafe UnsafeRawPointer(bitPattern: rawValue).unsafelyUnwrapped
    }
}
