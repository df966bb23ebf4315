import CQoSShims
import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// `Task.yield()` does not queue the task. It queues a nullary continuation job, which resumes the task when it runs
// (`NullaryContinuationJob` in the library's `Task.h`).

extension ConcurrencyRuntime {
    /// The kind of such a job, as the running library numbers kinds; ``unknownKind`` until it is known.
    private static let continuationKind = Atomic<UInt32>(unknownKind)
    private static let unknownKind = UInt32.max

    /// The distance from the job's address to the word that names the suspended task, in bytes.
    private static let continuationTaskOffset = Atomic<UInt>(0)

    /// Whether yielded tasks can be found, and so promoted.
    package static var seesYieldedTasks: Bool { continuationKind.load(ordering: .relaxed) != unknownKind }

    /// Returns the suspended task that a job resumes; `nil` for other jobs. The job is alive and has not run.
    @inline(__always)
    static func yieldedTask(of job: UnownedJob) -> TaskAddress? {
        let known = continuationKind.load(ordering: .relaxed)
        guard known != unknownKind, kind(of: job) == known else { return nil }
        let offset = continuationTaskOffset.load(ordering: .relaxed)
        // SAFETY: the layout was verified; the task is suspended until the job runs, so it is alive.
        return TaskAddress(
            rawValue: unsafe UnsafePointer<UInt>(bitPattern: JobNode(job).address + offset).unsafelyUnwrapped.pointee)
    }

    /// The size of a job's header. The task's address follows it (`Job` in the library's `Task.h`).
    private static let headerSize = 64

    /// The probe's job and its task. The job never runs: the process keeps both.
    // SAFETY: written once, while the layout is verified.
    nonisolated(unsafe) private static var probe: (job: UnsafeRawPointer, task: UnsafeMutableRawPointer)?

    /// Makes the library create a continuation job for a task that does not exist, and looks for that task's address in
    /// the job.
    static func learnContinuationLayout() {
        // SAFETY: the library stores the address and does not look at the memory, which is never freed.
        let task = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
        let pointer = unsafe createContinuationJob(Int(TaskPriority.high.rawValue), task)
        unsafe probe = (pointer, task)
        let job = unsafe unsafeBitCast(pointer, to: UnownedJob.self)
        guard job.priority.rawValue == TaskPriority.high.rawValue, !isTask(job) else { return }
        let size = unsafe cqos_allocated_size(pointer)
        // The last match counts: the library may name the creating task before it.
        for offset in stride(from: headerSize, through: size - MemoryLayout<UInt>.size, by: MemoryLayout<UInt>.size)
        where unsafe pointer.load(fromByteOffset: offset, as: UInt.self) == UInt(bitPattern: task) {
            continuationTaskOffset.store(UInt(offset), ordering: .relaxed)
            continuationKind.store(kind(of: job), ordering: .relaxed)
        }
    }

    @_silgen_name("swift_task_createNullaryContinuationJob")
    private static func createContinuationJob(_ priority: Int, _ task: UnsafeRawPointer) -> UnsafeRawPointer
}
