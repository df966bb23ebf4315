import QoSCore
import Synchronization

// Which executor the calling task was given, and so at which class it runs, is asked of the library: what its priority says is another thing.

extension ConcurrencyRuntime {
    /// The class of the executor of ours that the calling task prefers; `nil` for an executor without one, or of others.
    @inline(__always)
    static var preferredClass: QoSClass? {
        let (object, implementation) = preferredExecutor()
        guard object != 0, implementation == poolExecutorImplementation.load(ordering: .relaxed) else { return nil }
        // SAFETY: the witness table says that it is one of ours, all of which are receivers; a task's executor outlives the task's preference.
        return unsafe Unmanaged<JobReceiver>.fromOpaque(UnsafeRawPointer(bitPattern: object).unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { $0.qosClass }
    }

    /// How the library refers to the methods of the pools' executors: the second word of such an executor's reference.
    private static let poolExecutorImplementation = Atomic<UInt>(0)

    static func noteImplementation(of executor: UnownedTaskExecutor) {
        let reference = unsafe unsafeBitCast(executor, to: (object: UInt, implementation: UInt).self)
        poolExecutorImplementation.store(reference.implementation, ordering: .relaxed)
    }

    @_silgen_name("swift_task_getPreferredTaskExecutor")
    private static func preferredExecutor() -> (UInt, UInt)
}
