import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// The library serves an actor without an executor of its own by a job that takes the actor's turn. It is queued with the priority of the
// first call that waits; when a higher call comes, the library notes that in the actor and tells nobody.

extension ConcurrencyRuntime {
    /// Where the job has the actor, and the actor what is known of its calls (`ProcessOutOfLineJob` and `ActiveActorStatus` in the
    /// library's `Actor.cpp`): found by trying, see ``learnActorLayout()``.
    private static let actorOffset = 64
    private static let statusOffset = 32

    /// `JobKind::DefaultActorSeparate` in the library's `ABI/MetadataValues.h`.
    private static let servingKind: UInt32 = 193

    /// Whether the places above are those of the running library.
    private static let isActorLayoutKnown = Atomic<Bool>(false)

    /// Whether calls of actors without executors of their own, which wait for a turn, can be seen, and so promoted.
    package static var seesWaitingActors: Bool { isActorLayoutKnown.load(ordering: .relaxed) }

    /// The priority of the highest call that waits for the actor that a queued job serves; `nil` for other jobs.
    static func priorityOfServedActor(_ job: UnownedJob) -> UInt8? {
        guard kind(of: job) == servingKind, seesWaitingActors else { return nil }
        // SAFETY: the job is queued, so the actor has a turn to come and is there; the layout was tried.
        return statusPriority(ofActor: servedActor(job))
    }

    private static func servedActor(_ job: UnownedJob) -> UInt {
        unsafe UnsafePointer<UInt>(bitPattern: JobNode(job).address + UInt(actorOffset)).unsafelyUnwrapped.pointee
    }

    private static func statusPriority(ofActor actor: UInt) -> UInt8 {
        // Written by the library with atomic instructions, which Swift has none for of its size; a byte is never torn.
        unsafe UnsafePointer<UInt8>(bitPattern: actor + UInt(statusOffset + 1)).unsafelyUnwrapped.pointee
    }

    // MARK: Trying

    private actor Probe {}

    private static let probe = Probe()

    private static var probeAddress: UInt {
        UInt(bitPattern: unsafe Unmanaged.passUnretained(probe).toOpaque())
    }

    /// Of no class, so that the executor looks closely at a job that has it.
    private static let probePriority = TaskPriority(rawValue: TaskPriority.background.rawValue + 1)

    private static let isProbing = Atomic<Bool>(false)

    /// Finds out, by calls of an actor of its own that do nothing, whether the running library has things where they are expected. Once,
    /// when the process's executors have been installed; where it has not, such calls wait for their actor's turn without being promoted.
    static func learnActorLayout() {
        isProbing.store(true, ordering: .relaxed)
        call(probePriority)
        isProbing.store(false, ordering: .relaxed)
    }

    private static func call(_ priority: TaskPriority) {
        let job = UnownedJob(_swift_createJobForTestingOnly(priority: priority) {})
        // SAFETY: the job is given away, the actor lives for ever.
        unsafe enqueue(
            unsafeBitCast(job, to: UnsafeRawPointer.self), UnsafeRawPointer(bitPattern: probeAddress).unsafelyUnwrapped)
    }

    /// Whether a job of a priority between those of two classes, about to be queued, is the one that serves the probe.
    @inline(__always)
    static func isProbe(_ job: UnownedJob) -> Bool {
        isProbing.load(ordering: .relaxed) && learn(from: job)
    }

    private static func learn(from job: UnownedJob) -> Bool {
        guard kind(of: job) == servingKind, job.priority.rawValue == probePriority.rawValue,
            servedActor(job) == probeAddress, statusPriority(ofActor: probeAddress) == probePriority.rawValue
        else { return false }
        // Nobody else knows of the job, so the actor does not get its turn meanwhile.
        call(.high)
        isActorLayoutKnown.store(
            statusPriority(ofActor: probeAddress) == TaskPriority.high.rawValue, ordering: .relaxed)
        return true
    }

    @_silgen_name("swift_defaultActor_enqueue")
    private static func enqueue(_ job: UnsafeRawPointer, _ actor: UnsafeRawPointer)
}
