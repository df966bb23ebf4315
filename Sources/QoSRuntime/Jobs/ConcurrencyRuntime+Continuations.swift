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

    /// The addresses of two tasks that do not exist, and the distance between them.
    ///
    /// They lie within one large block, at whose inner addresses nothing ever was. So no word of memory that had another
    /// use before looks like one of them.
    private static let probeSize = 1 << 20
    private static let probeDistance = probeSize / 4

    /// The probe's jobs. They never run: the process keeps them.
    // SAFETY: written once, while the layout is verified.
    nonisolated(unsafe) private static var probes: [UnsafeRawPointer] = unsafe []

    /// Makes the library create continuation jobs for two tasks that do not exist, and looks for the tasks' addresses in
    /// the jobs. A job's memory may be larger than the job, and have words of its earlier use. So a place counts only if
    /// both jobs have their own task there.
    static func learnContinuationLayout() {
        // SAFETY: the library stores the addresses and does not look at the memory, which is never freed.
        let block = UnsafeMutableRawPointer.allocate(byteCount: probeSize, alignment: 16)
        let tasks = unsafe [block + probeDistance, block + 3 * probeDistance]
        let jobs = unsafe tasks.map { unsafe createContinuationJob(Int(TaskPriority.high.rawValue), $0) }
        unsafe probes = [UnsafeRawPointer(block)] + jobs
        let job = unsafe unsafeBitCast(jobs[0], to: UnownedJob.self)
        guard job.priority.rawValue == TaskPriority.high.rawValue, !isTask(job) else { return }
        let size = unsafe jobs.map { unsafe cqos_allocated_size($0) }.min() ?? 0
        let wordSize = MemoryLayout<UInt>.size
        let offsets = Array(stride(from: headerSize, through: size - wordSize, by: wordSize))
        let words = unsafe jobs.map { job in
            offsets.map { unsafe job.load(fromByteOffset: $0, as: UInt.self) }
        }
        guard let place = unsafe lastPlace(of: tasks.map { UInt(bitPattern: $0) }, in: words) else { return }
        continuationTaskOffset.store(UInt(offsets[place]), ordering: .relaxed)
        continuationKind.store(kind(of: job), ordering: .relaxed)
    }

    /// Returns the last place at which each list of words has its own value; `nil` if there is none. The last one
    /// counts: the library may name the creating task before it.
    static func lastPlace(of values: [UInt], in words: [[UInt]]) -> Int? {
        let shortest = words.map(\.count).min() ?? 0
        return (0..<shortest).last { place in zip(words, values).allSatisfy { $0[place] == $1 } }
    }

    @_silgen_name("swift_task_createNullaryContinuationJob")
    private static func createContinuationJob(_ priority: Int, _ task: UnsafeRawPointer) -> UnsafeRawPointer
}
