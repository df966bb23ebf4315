import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// The library serves an actor without an executor of its own by a job that takes the actor's turn. It is queued with the priority of the
// first call that waits; when a higher call comes, the library notes that in the actor and tells nobody. A call that was raised before
// it came to the actor gives its raised priority to the job, whichever executor its task prefers.

extension ConcurrencyRuntime {
    /// Where the job has the actor, and the actor what is known of its calls (`ProcessOutOfLineJob` and `ActiveActorStatus` in the
    /// library's `Actor.cpp`): found by trying, see ``learnActorLayout()``.
    private static let actorOffset = 64
    private static let statusOffset = 32
    private static let latestCallOffset = 40

    /// `JobKind::DefaultActorSeparate` in the library's `ABI/MetadataValues.h`.
    private static let servingKind: UInt32 = 193

    /// Whether the places above are those of the running library.
    private static let isActorLayoutKnown = Atomic<Bool>(false)

    /// Whether calls of actors without executors of their own, which wait for a turn, can be seen, and so promoted.
    package static var seesWaitingActors: Bool { isActorLayoutKnown.load(ordering: .relaxed) }

    /// The priority of the highest call that waits for the actor that a queued job serves; `nil` for other jobs.
    static func priorityOfServedActor(_ job: UnownedJob) -> UInt8? {
        guard seesWaitingActors, kind(of: job) == servingKind else { return nil }
        // SAFETY: the job is queued, so the actor has a turn to come and is there; the layout was tried.
        return statusPriority(ofActor: servedActor(job))
    }

    /// The priority that a job was made with, before anything was raised: of a job that serves an actor, that of the latest call, if it is
    /// lower.
    ///
    /// The calls of an actor that has a turn to come wait until the job runs, so the latest one is alive as long as the job is queued.
    package static func recordedPriority(_ job: UnownedJob) -> UInt8 {
        let own = job.priority.rawValue
        guard seesWaitingActors, kind(of: job) == servingKind else { return own }
        let call = latestCall(ofActor: servedActor(job))
        return call == 0 ? own : min(own, JobNode(address: call).job.priority.rawValue)
    }

    /// The address of the call that came last to an actor that has a turn to come; 0 where the library has sorted its calls already.
    private static func latestCall(ofActor actor: UInt) -> UInt {
        // SAFETY: the layout was tried. The library writes the word with atomic instructions.
        unsafe UnsafePointer<Atomic<UInt>>(bitPattern: actor + UInt(latestCallOffset)).unsafelyUnwrapped.pointee
            .load(ordering: .acquiring) & ~3
    }

    private static func servedActor(_ job: UnownedJob) -> UInt {
        unsafe UnsafePointer<UInt>(bitPattern: JobNode(job).address + UInt(actorOffset)).unsafelyUnwrapped.pointee
    }

    private static func statusPriority(ofActor actor: UInt) -> UInt8 {
        // Written by the library with atomic instructions, which Swift has none for of its size; a byte is never torn.
        unsafe UnsafePointer<UInt8>(bitPattern: actor + UInt(statusOffset + 1)).unsafelyUnwrapped.pointee
    }

    // MARK: Trying

    private actor Probe {
        static let shared = Probe()

        func suspend(_ suspension: Suspension) async {
            await withCheckedContinuation { suspension.continuation = $0 }
        }
    }

    // SAFETY: used by one thread.
    @safe
    private final class Suspension: @unchecked Sendable {
        var continuation: CheckedContinuation<Void, Never>?
    }

    private static var probeAddress: UInt {
        UInt(bitPattern: unsafe Unmanaged.passUnretained(Probe.shared).toOpaque())
    }

    private static let probePriority = TaskPriority.background

    /// Finds out whether the running library has things where they are expected, by calls of an actor of its own that do nothing.
    ///
    /// All of it happens on the calling thread. Where the layout is different, calls wait for their actor's turn without being promoted.
    static func learnActorLayout() {
        let suspension = Suspension()
        _ = Task.detached(executorPreference: ActorProbe(), priority: probePriority) {
            await Probe.shared.suspend(suspension)
        }
        // A task that comes back to an actor which nobody has is served by a job; one that begins there may just take the actor.
        suspension.continuation?.resume()
    }

    /// Looks for the job that serves the probe while nobody else knows of it, and runs all jobs at once.
    private final class ActorProbe: TaskExecutor {
        func enqueue(_ job: UnownedJob) {
            learn(from: job)
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private static func learn(from job: UnownedJob) {
        guard kind(of: job) == servingKind, job.priority.rawValue == probePriority.rawValue,
            servedActor(job) == probeAddress, statusPriority(ofActor: probeAddress) == probePriority.rawValue
        else { return }
        let call = UnownedJob(_swift_createJobForTestingOnly(priority: .high) {})
        // SAFETY: the job is given away, the actor lives for ever.
        unsafe enqueue(
            unsafeBitCast(call, to: UnsafeRawPointer.self), UnsafeRawPointer(bitPattern: probeAddress).unsafelyUnwrapped
        )
        isActorLayoutKnown.store(
            statusPriority(ofActor: probeAddress) == TaskPriority.high.rawValue
                && latestCall(ofActor: probeAddress) == JobNode(call).address,
            ordering: .relaxed)
    }

    @_silgen_name("swift_defaultActor_enqueue")
    private static func enqueue(_ job: UnsafeRawPointer, _ actor: UnsafeRawPointer)
}
