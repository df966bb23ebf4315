import QoSCore
import QoSKernel
import QoSKernelTestSupport

@testable import QoSRuntime

/// A simulated kernel in the place of the process's, for locks and threads that belong to no scheduler.
///
/// One at a time: suites that use it are serialized, and nested in ``ThreadsAndLocks``.
struct LockKernelStage {
    let calls: SimulatedSchedulingCalls

    /// Runs a body with a kernel of these rights.
    static func with<Success>(
        _ rights: SimulatedSchedulingCalls.Rights, _ body: (LockKernelStage) throws -> Success
    ) rethrows -> Success {
        let stage = LockKernelStage(calls: SimulatedSchedulingCalls(rights: rights))
        LockKernel.replace(with: KernelProfile(calls: stage.calls))
        defer { LockKernel.replace(with: nil) }
        return try body(stage)
    }

    /// The nice value that a thread has here.
    func nice(of id: UInt32) throws -> Int {
        try calls.nice(of: ThreadID(rawValue: Int32(id)))
    }

    /// The nice value that a thread of a class has here: it depends on whether the test process has its group to
    /// itself.
    static func nice(_ qosClass: QoSClass) -> Int {
        ClassEffects(qosClass, mode: .privileged, spread: NiceScope.current().spread).scheduling.nice
    }

    var ownNice: Int { get throws { try calls.nice(of: .current) } }
}
