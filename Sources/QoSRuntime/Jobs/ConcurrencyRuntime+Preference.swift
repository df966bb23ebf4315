import QoSCore
import Synchronization

// The library knows the executor that the calling task was given, and so the class at which the task runs. The task's
// priority does not tell that class.

extension ConcurrencyRuntime {
    /// The class of our executor that the calling task prefers; `nil` for an executor without a class, or for other
    /// executors.
    @inline(__always)
    static var preferredClass: QoSClass? {
        let (object, implementation) = preferredExecutor()
        guard object != 0, implementation == poolExecutorImplementation.load(ordering: .relaxed) else { return nil }
        // SAFETY: the witness table says that it is one of ours, all of which are receivers; a task's executor outlives
        // the preference.
        return unsafe Unmanaged<JobReceiver>.fromOpaque(UnsafeRawPointer(bitPattern: object).unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { $0.qosClass }
    }

    /// The library's reference to the methods of the pools' executors: the second word of such an executor's reference.
    private static let poolExecutorImplementation = Atomic<UInt>(0)

    static func noteImplementation(of executor: UnownedTaskExecutor) {
        let reference = unsafe unsafeBitCast(executor, to: (object: UInt, implementation: UInt).self)
        poolExecutorImplementation.store(reference.implementation, ordering: .relaxed)
    }

    @_silgen_name("swift_task_getPreferredTaskExecutor")
    private static func preferredExecutor() -> (UInt, UInt)
}
