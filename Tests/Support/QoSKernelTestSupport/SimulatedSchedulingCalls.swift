internal import Glibc
package import QoSKernel

/// A kernel's scheduling rules in memory: every mode of privilege on every machine.
///
/// Threads are real, what is set on them is only remembered; a thread begins with what its creator had, as in the
/// kernel. Any thread may call it. Names and processors are the kernel's own.
package final class SimulatedSchedulingCalls: SchedulingCalls {
    /// The rights of the simulated process.
    package enum Rights: Sendable, Hashable {
        /// CAP_SYS_NICE.
        case all
        /// RLIMIT_NICE: nice may go back to 20 − limit.
        case limit(Int)
        /// Neither: nice and IDLE are one-way.
        case none
    }

    private struct Entry: Sendable {
        var scheduling = Scheduling(policy: .other, nice: 0, slice: SimulatedSchedulingCalls.kernelsSlice)
        var ioPriority = IOPriority.none
        var timerSlack: UInt64 = 50_000
    }

    /// The slice of a thread that set none, in nanoseconds.
    package static let kernelsSlice: UInt64 = 3_000_000

    private let rights: Rights
    private let real = LinuxSchedulingCalls()
    private let entries = Lock<[ThreadID: Entry]>([:])

    /// A process whose threads are as the kernel makes them: OTHER at nice 0.
    package init(rights: Rights) {
        self.rights = rights
    }

    /// Whether nice may be set to a value lower than the thread's.
    private func mayReduce(to nice: Int) -> Bool {
        switch rights {
        case .all: true
        case .limit(let limit): nice >= 20 - limit
        case .none: false
        }
    }

    private func update(
        _ thread: ThreadID, _ change: (inout Entry) -> KernelError?
    ) throws(KernelError) {
        let failure = entries.withLock { change(&$0[thread, default: Entry()]) }
        if let failure { throw failure }
    }

    private func entry(of thread: ThreadID) -> Entry {
        entries.withLock { $0[thread, default: Entry()] }
    }

    private func checkSibling(_ thread: ThreadID, _ call: KernelCall) throws(KernelError) {
        guard thread == .current || rights == .all else {
            throw KernelError(call, code: EPERM, subject: "\(thread)")
        }
    }
}

extension SimulatedSchedulingCalls {
    /// A real thread with the creator's simulated scheduling.
    package func createThread(
        stackSize: Int?, _ body: @escaping @Sendable () -> Void
    ) throws(KernelError) -> ThreadHandle {
        let inherited = entry(of: .current)
        return try real.createThread(stackSize: stackSize) { [self] in
            // The kernel gives ids of ended threads to new ones, so this also clears what an earlier one had.
            entries.withLock { $0[.current] = inherited }
            body()
        }
    }

    /// By the kernel's rules for the fair policies and IDLE; other policies need all rights.
    package func setScheduling(_ scheduling: Scheduling, of thread: ThreadID) throws(KernelError) {
        try update(thread) { entry in
            let present = entry.scheduling
            let leavesIdle = present.policy == .idle && scheduling.policy != .idle
            let reduces = scheduling.policy.isFair && scheduling.nice < present.nice
            guard scheduling.policy.isFair || scheduling.policy == .idle || rights == .all,
                !leavesIdle || mayReduce(to: present.nice), !reduces || mayReduce(to: scheduling.nice)
            else { return KernelError(.setScheduling, code: EPERM, subject: "\(thread) (\(scheduling))") }
            entry.scheduling.policy = scheduling.policy
            if scheduling.policy.isFair {
                entry.scheduling.nice = scheduling.nice
                entry.scheduling.slice = scheduling.slice ?? Self.kernelsSlice
            }
            return nil
        }
    }

    /// Returns the scheduling that was set or inherited.
    package func scheduling(of thread: ThreadID) throws(KernelError) -> Scheduling {
        entry(of: thread).scheduling
    }

    /// EACCES for a lower value without the right.
    package func setNice(_ nice: Int, of thread: ThreadID) throws(KernelError) {
        try update(thread) { entry in
            guard nice >= entry.scheduling.nice || mayReduce(to: nice) else {
                return KernelError(.setNice, code: EACCES, subject: "\(thread) (nice \(nice))")
            }
            entry.scheduling.nice = nice
            return nil
        }
    }

    /// Returns the nice value that was set or inherited.
    package func nice(of thread: ThreadID) throws(KernelError) -> Int {
        entry(of: thread).scheduling.nice
    }

    /// Always allowed, but for the real-time class.
    package func setIOPriority(_ priority: IOPriority, of thread: ThreadID) throws(KernelError) {
        try update(thread) { entry in
            if case .realtime = priority, rights != .all {
                return KernelError(.setIOPriority, code: EPERM, subject: "\(thread) (\(priority))")
            }
            entry.ioPriority = priority
            return nil
        }
    }

    /// Returns the I/O priority that was set or inherited.
    package func ioPriority(of thread: ThreadID) throws(KernelError) -> IOPriority {
        entry(of: thread).ioPriority
    }

    /// EPERM for a sibling without all rights.
    package func setTimerSlack(nanoseconds: UInt64, of thread: ThreadID) throws(KernelError) {
        try checkSibling(thread, .setTimerSlackOfOther)
        try update(thread) { entry in
            entry.timerSlack = nanoseconds
            return nil
        }
    }

    /// EPERM for a sibling without all rights.
    package func timerSlack(of thread: ThreadID) throws(KernelError) -> UInt64 {
        try checkSibling(thread, .getTimerSlackOfOther)
        return entry(of: thread).timerSlack
    }

    /// The kernel's own.
    package func setAffinity(_ processors: CPUSet, of thread: ThreadID) throws(KernelError) {
        try real.setAffinity(processors, of: thread)
    }

    /// The kernel's own.
    package func affinity(of thread: ThreadID) throws(KernelError) -> CPUSet {
        try real.affinity(of: thread)
    }

    /// The kernel's own.
    package func setName(_ name: ThreadName, of thread: ThreadID) throws(KernelError) {
        try real.setName(name, of: thread)
    }

    /// The kernel's own.
    package func name(of thread: ThreadID) throws(KernelError) -> String {
        try real.name(of: thread)
    }
}
