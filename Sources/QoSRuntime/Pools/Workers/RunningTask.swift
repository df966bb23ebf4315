import CQoSShims
import Synchronization

/// The task that a worker runs, published so that the loop can see whether work of a higher class waits for it.
///
/// A task may free itself at the end of its last job, while a thread looks at it. So the worker retains a task while
/// the task is published. It retracts the task before the release, and does not release during a look. The looking
/// thread counts itself before it reads. The worker checks that count after it has retracted the task. Sequentially
/// consistent, so one sees the other.
///
/// A child task names its parents, which may end as soon as the child has. If a raise of them may not show in the
/// child's record, the worker also publishes the root: the parent that is no child itself. It keeps the root in the
/// same way.
///
/// Threading: the worker calls ``publish(_:root:)`` and ``retract()``; any thread calls ``inspect(_:)``, several at a time.
struct RunningTask: ~Copyable {
    private let address = Atomic<UInt>(0)
    private let looks = Atomic<Int>(0)

    /// The address of the root; 0 for nearly all. Other threads read it only while a task is published.
    private let root = Atomic<UInt>(0)

    /// Publishes the task that the worker is about to run, and the root of a child whose raise may not show.
    @inline(__always)
    func publish(_ task: UnownedJob, root: TaskAddress? = nil) {
        let address = JobNode(task).address
        _ = unsafe Self.object(at: address).retain()
        if let root {
            _ = unsafe Self.object(at: root.rawValue).retain()
            self.root.store(root.rawValue, ordering: .relaxed)
        }
        self.address.store(address, ordering: .releasing)
    }

    /// Retracts the task after the worker has come back from its job, published or not.
    ///
    /// A thread that sees the retraction sees everything that the worker wrote before. If a thread does not see it, the
    /// worker sees afterwards what that thread wrote before ``synchronize()``.
    @inline(__always)
    func retract() {
        let address = self.address.load(ordering: .relaxed)
        self.address.store(0, ordering: .sequentiallyConsistent)
        guard address != 0 else { return }
        while isInspected { cqos_spin_hint() }
        unsafe Self.object(at: address).release()
        let root = root.load(ordering: .relaxed)
        guard root != 0 else { return }
        self.root.store(0, ordering: .relaxed)
        unsafe Self.object(at: root).release()
    }

    /// Whether a thread is looking at this moment.
    var isInspected: Bool { looks.load(ordering: .sequentiallyConsistent) > 0 }

    /// Whether the published task has come to its end, as far as can be seen. The worker, after the job.
    @inline(__always)
    var hasEnded: Bool {
        let address = address.load(ordering: .relaxed)
        return address != 0 && ConcurrencyRuntime.hasEnded(JobNode(address: address).job)
    }

    /// Whether nothing is published, as far as a thread can tell without a look.
    var isEmpty: Bool { address.load(ordering: .relaxed) == 0 }

    /// Orders this look among the worker's retractions: see ``retract()``.
    func synchronize() {
        _ = address.load(ordering: .sequentiallyConsistent)
    }

    /// Looks at the task, if there is one. The body must be short: the worker may wait for it.
    @discardableResult
    func inspect<Result>(_ body: (UnownedJob) -> Result?) -> Result? {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let address = self.address.load(ordering: .sequentiallyConsistent)
        return address == 0 ? nil : body(JobNode(address: address).job)
    }

    /// The published root, within ``inspect(_:)``.
    var inspectedRoot: TaskAddress? {
        let root = root.load(ordering: .relaxed)
        return root == 0 ? nil : TaskAddress(rawValue: root)
    }

    /// Returns the task as the object that it is.
    @inline(__always)
    private static func object(at address: UInt) -> Unmanaged<AnyObject> {
        // SAFETY: the address is that of a task, which is a reference-counted object. It runs or waits for its child, so
        // it is alive.
        unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
    }
}
