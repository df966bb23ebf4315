import CQoSShims
import Synchronization

/// The task that a worker runs, so that the loop can see whether something of a higher class waits for it.
///
/// A task may free itself at the end of its last job, while somebody looks at it. So the worker retains it while it is
/// published, takes it back before it releases it, and does not release it while somebody looks: the one that looks says so
/// before it reads, the worker looks for that after it has taken the task back. Sequentially consistent, so one sees the other.
///
/// Threading: ``publish(_:)`` and ``retract()`` belong to the worker, ``inspect(_:)`` to any thread, several at a time.
struct RunningTask: ~Copyable {
    private let address = Atomic<UInt>(0)
    private let looks = Atomic<Int>(0)

    /// The worker is about to run a task.
    @inline(__always)
    func publish(_ task: UnownedJob) {
        let address = JobNode(task).address
        _ = unsafe Self.object(at: address).retain()
        self.address.store(address, ordering: .releasing)
    }

    /// The worker has come back from what it ran, published or not. What it wrote before is seen by whoever sees this, and whoever
    /// does not has written before ``synchronize()`` what the worker reads after this.
    @inline(__always)
    func retract() {
        let address = self.address.load(ordering: .relaxed)
        self.address.store(0, ordering: .sequentiallyConsistent)
        guard address != 0 else { return }
        while isInspected { cqos_spin_hint() }
        unsafe Self.object(at: address).release()
    }

    /// Whether somebody looks at this moment.
    var isInspected: Bool { looks.load(ordering: .sequentiallyConsistent) > 0 }

    /// Whether nothing is published, as far as is known without a look.
    var isEmpty: Bool { address.load(ordering: .relaxed) == 0 }

    /// Takes the place of this look among the worker's retractions: see ``retract()``.
    func synchronize() {
        _ = address.load(ordering: .sequentiallyConsistent)
    }

    /// Looks at the task, if there is one. Short: the worker may wait for it.
    @discardableResult
    func inspect<Result>(_ body: (UnownedJob) -> Result?) -> Result? {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let address = self.address.load(ordering: .sequentiallyConsistent)
        return address == 0 ? nil : body(JobNode(address: address).job)
    }

    /// The task as the object that it is.
    @inline(__always)
    private static func object(at address: UInt) -> Unmanaged<AnyObject> {
        // SAFETY: the address is that of a task, which is a reference-counted object; it runs, so it is alive.
        unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
    }
}
