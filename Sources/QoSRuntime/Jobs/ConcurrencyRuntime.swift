// The files of this name hold everything of the concurrency library that the runtime uses and that is not plain public
// API. They are here and beside the runtime's own executors.
//
// The library's custom executors are still an underscored or SPI feature in Swift 6.3. Without it, a package cannot
// install executors for the whole process, serve sleeps, or read a queued task's live priority. Users of this package
// need no SPI: they call our public functions.

import CQoSShims
import Glibc
import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// The few calls into the concurrency library that have no public Swift spelling.
package enum ConcurrencyRuntime {
    /// Returns whether work of a higher class waits for the job's task: the task's priority was raised above its
    /// priority at creation.
    package static func isEscalated(_ job: UnownedJob) -> Bool {
        // SAFETY: the task is alive while it, or the job that resumes it, is enqueued.
        task(of: job).map { unsafe basePriority($0.pointer) < job.priority.rawValue } ?? false
    }

    /// Returns the task that a queued job is, or resumes; `nil` for the library's own helpers.
    @inline(__always)
    static func task(of job: UnownedJob) -> TaskAddress? {
        isTask(job) ? TaskAddress(rawValue: JobNode(job).address) : yieldedTask(of: job)
    }

    /// Returns whether a delayed job only resumes a sleeping task, and so costs next to nothing.
    ///
    /// A sleeping task hands its executor a helper: a task without a priority; every other task has one. The helper
    /// enqueues the sleeping task when it runs.
    package static func isResumption(_ job: UnownedJob) -> Bool {
        job.priority.rawValue == 0
    }

    /// Lets a delayed job go on whose time has come: a helper (``isResumption(_:)``) on the calling thread, and any
    /// other job by `submit`.
    package static func delayEnded(_ job: UnownedJob, submit: (UnownedJob) -> Void) {
        if isResumption(job) { runResumption(job) } else { submit(job) }
    }

    /// Runs a job for which ``isResumption(_:)`` holds, on the calling thread.
    ///
    /// The helper prefers no executor. If it ran as a job of ours, it would first go on to the process's default
    /// executor, and wait there for a thread.
    package static func runResumption(_ job: UnownedJob) {
        // SAFETY: two null words are the generic executor's spelling: `SerialExecutorRef::generic()` in the library's
        // `Executor.h`.
        let generic = unsafe unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
        unsafe job.runSynchronously(on: generic)
    }

    /// Whether jobs of the running concurrency library have their executor's words where ``JobNode`` expects them, and
    /// their flags behind these words.
    ///
    /// Verified once, on a job of our own that does nothing.
    package static let hasExpectedLayout: Bool = {
        let job = UnownedJob(_swift_createJobForTestingOnly(priority: .high) {})
        let expected = JobNode(job).address + UInt(JobNode.linkOffset)
        let flags = Self.flags(of: job)
        let flagsMatch = flags & 0xFF == ExecutorJob(job).kind.rawValue && rawPriority(of: job) == job.priority.rawValue
        let matches =
            unsafe ExecutorJob(job).withUnsafeExecutorPrivateData { words in
                UInt(bitPattern: words.baseAddress) == expected && words.count >= 2 * MemoryLayout<UInt>.size
            } && flagsMatch
        // The job frees itself when it runs. It does not run on the process's executor: asking for that executor would
        // create it.
        let executor = Immediate()
        unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        withExtendedLifetime(executor) {}
        if matches, !isLayoutHidden(by: "unknown") { learnPrivateLayout() }
        return matches
    }()

    /// Returns whether the process asks to run as if a private layout were not known. It does so by the value of the
    /// environment variable `QOS_LIBRARY_LAYOUT`: `unknown` for all of it, or `no-parents`.
    static func isLayoutHidden(by value: String) -> Bool {
        unsafe getenv("QOS_LIBRARY_LAYOUT").map { unsafe String(cString: $0) == value } ?? false
    }

    /// Verifies the private layout of the running library: flags, continuation jobs, actors, waiters, names.
    private static func learnPrivateLayout() {
        isFlagsWordKnown.store(true, ordering: .relaxed)
        learnContinuationLayout()
        learnActorLayout()
        learnWaiterLayout()
        learnNameLayout()
    }

    /// Whether the flags behind the executor's words may be read.
    private static let isFlagsWordKnown = Atomic<Bool>(false)

    /// Whether a running task can be told from one that cannot be kept alive, and so be promoted.
    package static var seesRunningTasks: Bool { isFlagsWordKnown.load(ordering: .relaxed) }

    /// An executor that runs jobs at once, on the submitting thread.
    final class Immediate: TaskExecutor {
        func enqueue(_ job: UnownedJob) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Returns whether a job is a task itself, and not the library's own helper.
    @inline(__always)
    package static func isTask(_ job: UnownedJob) -> Bool {
        seesRunningTasks ? kind(of: job) == UInt32(ExecutorJob.Kind.task.rawValue) : ExecutorJob(job).kind == .task
    }

    /// Returns whether a job is a task that a reference keeps alive.
    ///
    /// The child task of an `async let` is not. Such a task lives in memory of its parent. The parent takes the memory
    /// back as soon as it has the result. Retaining has no effect on the child.
    @inline(__always)
    static func isRetainableTask(_ job: UnownedJob) -> Bool {
        seesRunningTasks && flags(of: job) & (kindMask | asyncLetFlag) == UInt32(ExecutorJob.Kind.task.rawValue)
    }

    /// The bit of an `async let`'s child task in a job's flags (`JobFlags` in the library's `MetadataValues.h`).
    private static let asyncLetFlag: UInt32 = 1 << 28

    private static let kindMask: UInt32 = 0xFF

    /// Returns the kind of a task, from its job's flags. It tells which fragments the task's memory has.
    static func taskKind(of job: UnownedJob) -> UInt32 { flags(of: job) & taskKindMask }

    /// The bits from `Task_IsChildTask` to `Task_IsAsyncLetTask` in the library's `MetadataValues.h`.
    private static let taskKindMask: UInt32 = 0x1F00_0000

    /// Returns the flags of a job: kind in the first byte, priority in the second, kind of task above.
    @inline(__always)
    static func flags(of job: UnownedJob) -> UInt32 {
        let address = JobNode(job).address + UInt(JobNode.linkOffset + 2 * MemoryLayout<UInt>.size)
        // SAFETY: the job is alive; `hasExpectedLayout` has compared the place with the library's own answers.
        return unsafe UnsafePointer<UInt32>(bitPattern: address).unsafelyUnwrapped.pointee
    }

    /// Returns the kind of a job, as the library numbers kinds. Only if the layout is known.
    @inline(__always)
    static func kind(of job: UnownedJob) -> UInt32 { flags(of: job) & kindMask }

    /// Returns the priority at which a job was queued. Only if the layout is known.
    @inline(__always)
    static func rawPriority(of job: UnownedJob) -> UInt8 { UInt8(truncatingIfNeeded: flags(of: job) >> 8) }

    /// Returns the present priority of a queued or running task. It is the priority at which the task was queued, or
    /// higher if higher work waits for the task.
    ///
    /// For a job that serves an actor, it is the priority of the actor's highest call. `nil` for a job of which only
    /// the queued priority is known.
    package static func livePriority(_ job: UnownedJob) -> UInt8? {
        guard let task = task(of: job) else { return priorityOfServedActor(job) }
        // SAFETY: the caller knows that the task is alive.
        return unsafe currentPriority(task.pointer)
    }

    /// Returns whether a queued node is a task that was cancelled.
    static func isCancelled(_ node: JobNode) -> Bool {
        guard node.tag.isJob, let task = task(of: node.job) else { return false }
        // SAFETY: the value that names the current task is the task object's address, and a queued task is alive.
        return unsafe unsafeBitCast(task.rawValue, to: UnsafeCurrentTask.self).isCancelled
    }

    /// Returns the node of a task. A task is its own job, and a handle is a reference to it.
    static func node<Success, Failure: Error>(of task: Task<Success, Failure>) -> JobNode {
        // SAFETY: `Task` is a frozen struct of one reference.
        JobNode(address: unsafe unsafeBitCast(task, to: UInt.self))
    }

    /// The calling task, distinct from all others while it is alive; `nil` outside of tasks.
    package static var currentTask: TaskAddress? {
        unsafe cqos_current_task().map { TaskAddress(rawValue: UInt(bitPattern: $0)) }
    }

    /// Returns the address at which the calling code finds a task-local value, of the innermost binding; 0 without one.
    ///
    /// A task's children look into its own bindings, whereas an unstructured task that it starts has copies. So the
    /// same address means the same task, or a child of it, as long as the binding lasts.
    package static func placeOfBinding<Value>(of local: TaskLocal<Value>) -> UInt {
        // SAFETY: the library's own key for a task-local value is the address of the object that represents it, a
        // constant.
        let key = unsafe UnsafeRawPointer(Unmanaged.passUnretained(local).toOpaque())
        return UInt(bitPattern: unsafe taskLocalValue(key))
    }

    @_silgen_name("swift_task_localValueGet")
    private static func taskLocalValue(_ key: UnsafeRawPointer) -> UnsafeRawPointer?

    /// Keeps a live task alive until ``escalateAndRelease(_:to:)`` or ``release(_:)``. Returns `false` for a task that
    /// cannot be kept.
    static func retain(_ task: TaskAddress) -> Bool {
        guard isRetainableTask(JobNode(address: task.rawValue).job) else { return false }
        // SAFETY: a task is a reference-counted object, alive at this time.
        _ = unsafe Unmanaged<AnyObject>.fromOpaque(task.pointer).retain()
        return true
    }

    /// Raises the priority of a retained task as if a higher task awaited it, and releases it.
    static func escalateAndRelease(_ task: TaskAddress, to qosClass: QoSClass) {
        // SAFETY: the value that names the current task is the task object's address, and the task is retained.
        unsafe unsafeBitCast(task.rawValue, to: UnsafeCurrentTask.self).escalatePriority(to: qosClass.taskPriority)
        unsafe Unmanaged<AnyObject>.fromOpaque(task.pointer).release()
    }

    /// Releases a retained task.
    static func release(_ task: TaskAddress) {
        // SAFETY: ``retain(_:)`` has retained it.
        unsafe Unmanaged<AnyObject>.fromOpaque(task.pointer).release()
    }

    /// Returns whether this is the executor of an actor that has none of its own. An executor reference is an object
    /// and the witness table of `SerialExecutor`; the table is missing if the object is such an actor (`Executor.h`,
    /// `SerialExecutorRef`).
    static func isDefaultActor(_ executor: UnownedSerialExecutor) -> Bool {
        let reference = unsafe unsafeBitCast(executor, to: (object: UInt, implementation: UInt).self)
        return reference.object != 0 && reference.implementation == 0
    }

    /// Whether the calling code runs on an actor or another serial executor, and so has its turn.
    static var isOnSerialExecutor: Bool {
        // The generic executor is two null words (`Executor.h`, `SerialExecutorRef::generic()`).
        unsafe cqos_current_serial_executor() != nil
    }

    /// Ends the counting of references to an object that lives as long as the process.
    ///
    /// The concurrency library retains and releases the executor for each job that it enqueues. All processors do so on
    /// one counter, and take it from one another. `_swift_stdlib_immortalize` of the standard library ends this for the
    /// object. Nothing may refer to the object weakly before this call.
    static func makeImmortal(_ object: AnyObject) {
        // SAFETY: the object is retained and never released.
        unsafe cqos_make_immortal(Unmanaged.passRetained(object).toOpaque())
    }

    /// Cancels the task of a job that is about to run. Does nothing for a job that is no task.
    static func cancel(_ job: UnownedJob) {
        guard isTask(job) else { return }
        // SAFETY: a job of kind `task` is the task object itself; it is alive, because it has not run.
        unsafe unsafeBitCast(JobNode(job).address, to: UnsafeCurrentTask.self).cancel()
    }

    /// The present priority of the calling task, escalations included; `nil` outside of tasks. The same as from
    /// `withUnsafeCurrentTask`, without retaining the task.
    static var priorityOfCurrentTask: UInt8? {
        // SAFETY: the task runs the calling code, so it is alive.
        unsafe cqos_current_task().map { unsafe currentPriority($0) }
    }

    /// Whether the calling task, which has a priority, was raised above its priority at creation.
    static var isCurrentTaskEscalated: Bool {
        // SAFETY: as above.
        unsafe cqos_current_task().map { unsafe basePriority($0) < currentPriority($0) } ?? false
    }

    /// Returns the class with which a live task was created.
    static func baseClass(of task: TaskAddress) -> QoSClass? {
        QoSClass(rawPriority: unsafe basePriority(task.pointer))
    }

    /// Returns the class to which a live task was raised, as its record shows; `nil` for a task that was not raised.
    static func recordedRaise(of task: TaskAddress) -> QoSClass? {
        let live = unsafe currentPriority(task.pointer)
        return unsafe live > basePriority(task.pointer) ? QoSClass(rawPriority: live) : nil
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

    /// An index for a table whose size is a power of two. Neighbouring tasks get different ones.
    var tableIndex: Int { Int(truncatingIfNeeded: ((rawValue >> 4) &* 0x9E37_79B9_7F4A_7C15) >> 32) }

    var pointer: UnsafeRawPointer {
        unsafe UnsafeRawPointer(bitPattern: rawValue).unsafelyUnwrapped
    }
}
