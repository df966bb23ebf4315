import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// The library serves an actor without an executor of its own by a job that takes the actor's turn. The job is queued
// with the priority of the first waiting call. When a higher call comes, the library notes that in the actor but tells
// no executor.

extension ConcurrencyRuntime {
    /// The places of the actor in the job, and of the records of its calls in the actor (`ProcessOutOfLineJob` and
    /// `ActiveActorStatus` in the library's `Actor.cpp`). ``learnActorLayout()`` verifies them.
    private static let actorOffset = 64
    private static let statusOffset = 32
    private static let latestCallOffset = 40

    /// `JobKind::DefaultActorSeparate` in the library's `ABI/MetadataValues.h`.
    private static let servingKind: UInt32 = 193

    /// Whether the places above are those of the running library.
    private static let isActorLayoutKnown = Atomic<Bool>(false)

    /// Whether waiting calls of actors without executors of their own can be seen, and so promoted.
    package static var seesWaitingActors: Bool { isActorLayoutKnown.load(ordering: .relaxed) }

    /// Returns the priority of the highest waiting call of the actor that a queued job serves; `nil` for other jobs.
    static func priorityOfServedActor(_ job: UnownedJob) -> UInt8? {
        guard seesWaitingActors, kind(of: job) == servingKind else { return nil }
        // SAFETY: the job is queued, so the actor is alive and its turn is still to come; the layout was verified.
        return statusPriority(ofActor: servedActor(job))
    }

    /// Returns the call for which a queued job serves an actor: the one that came last. `nil` for other jobs, and if
    /// the library has already sorted the calls.
    ///
    /// The calls wait until the job runs, so this call is alive as long as the job is queued.
    static func call(servedBy job: UnownedJob) -> UnownedJob? {
        guard seesWaitingActors, kind(of: job) == servingKind else { return nil }
        return latestCall(ofActor: servedActor(job))
    }

    private static func latestCall(ofActor actor: UInt) -> UnownedJob? {
        // SAFETY: the layout was verified. The library writes the word with atomic instructions.
        let word = unsafe UnsafePointer<Atomic<UInt>>(bitPattern: actor + UInt(latestCallOffset)).unsafelyUnwrapped
            .pointee.load(ordering: .acquiring)
        return word & ~3 == 0 ? nil : JobNode(address: word & ~3).job
    }

    private static func servedActor(_ job: UnownedJob) -> UInt {
        unsafe UnsafePointer<UInt>(bitPattern: JobNode(job).address + UInt(actorOffset)).unsafelyUnwrapped.pointee
    }

    private static func statusPriority(ofActor actor: UInt) -> UInt8 {
        // The library writes it with atomic instructions that Swift lacks for this size; a byte is never torn.
        unsafe UnsafePointer<UInt8>(bitPattern: actor + UInt(statusOffset + 1)).unsafelyUnwrapped.pointee
    }

    // MARK: Verification

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

    /// Verifies the layout of the running library, by calls of an actor of its own that do nothing.
    ///
    /// All of it happens on the calling thread. If the layout differs, calls wait for their actor's turn without being
    /// promoted.
    static func learnActorLayout() {
        let suspension = Suspension()
        _ = Task.detached(executorPreference: ActorProbe(), priority: probePriority) {
            await Probe.shared.suspend(suspension)
        }
        // A task that resumes on a free actor is served by a job; a task that begins there may just take the actor.
        suspension.continuation?.resume()
    }

    /// An executor that runs all jobs at once. First it looks for the job of the probe, which no other thread knows
    /// yet.
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
        // SAFETY: the call passes ownership of the job, and the actor lives forever.
        unsafe enqueue(
            unsafeBitCast(call, to: UnsafeRawPointer.self), UnsafeRawPointer(bitPattern: probeAddress).unsafelyUnwrapped
        )
        isActorLayoutKnown.store(
            statusPriority(ofActor: probeAddress) == TaskPriority.high.rawValue
                && latestCall(ofActor: probeAddress).map { JobNode($0).address } == JobNode(call).address,
            ordering: .relaxed)
    }

    @_silgen_name("swift_defaultActor_enqueue")
    private static func enqueue(_ job: UnsafeRawPointer, _ actor: UnsafeRawPointer)
}
