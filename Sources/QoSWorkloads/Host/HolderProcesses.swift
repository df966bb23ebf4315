internal import QoSKernel
internal import QoSRuntime

/// The processes that hold leases, as a host sees them. A process has an exact name, which no other one ever gets.
package protocol HolderProcesses: Sendable {
    /// The name of this process; `nil` if the system does not say.
    var current: String? { get }

    /// Returns whether a process has ended for certain. `false` if nobody here can tell.
    func isGone(_ process: String) -> Bool

    /// Suspends until a process has ended.
    ///
    /// - Returns: whether it has; `false` for one that cannot be watched, and for a cancelled task.
    func waitUntilEnded(_ process: String) async -> Bool
}

/// The processes of this machine, watched on the event loop of a scheduler.
package struct SystemHolderProcesses: HolderProcesses {
    package let current: String?
    private let reader = ProcessReader()
    private let queue: WorkQueue?

    /// - Parameter scheduler: its event loop watches; without one, no process is watched.
    package init(_ scheduler: QoSScheduler?) {
        current = reader.current()?.description
        queue = scheduler?.makeQueue("workload-holders", level: QoSLevel(WorkloadHost.controlClass))
    }

    package func isGone(_ process: String) -> Bool {
        ProcessIdentity(process).map(reader.isGone(_:)) ?? false
    }

    package func waitUntilEnded(_ process: String) async -> Bool {
        guard let queue, let identity = ProcessIdentity(process), reader.identity(of: identity.number) == identity
        else { return isGone(process) }
        guard let descriptor = ProcessDescriptor(identity.number) else { return isGone(process) }
        // The number may have got a new process before the descriptor was there.
        if reader.isGone(identity) { return true }
        let ready = try? await queue.readiness(of: descriptor.rawValue, for: .readable)
        return ready?.contains(.readable) ?? false
    }
}
