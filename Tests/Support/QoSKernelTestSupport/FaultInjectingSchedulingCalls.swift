package import QoSKernel

/// Scheduling calls that fail by script and are counted; what is not denied goes through to other calls.
///
/// Any thread may call and script it. A denied call does not reach the calls below.
package final class FaultInjectingSchedulingCalls: SchedulingCalls {
    private struct Script {
        var faults: [KernelCall: Fault] = [:]
        var counts: [KernelCall: Int] = [:]
    }

    private struct Fault {
        let code: Int32
        /// The number of failures to come; `nil` is for ever.
        var remaining: Int?
    }

    private let base: any SchedulingCalls
    private let completed: (@Sendable (KernelCall) -> Void)?
    private let script = Lock(Script())

    /// Puts the double in front of other calls, nothing denied.
    ///
    /// - Parameter completed: called after each call that was not denied and did not fail, on the thread that made it.
    package init(
        over base: any SchedulingCalls = LinuxSchedulingCalls(), completed: (@Sendable (KernelCall) -> Void)? = nil
    ) {
        self.base = base
        self.completed = completed
    }

    /// Makes calls fail with an error number until ``allow(_:)``.
    ///
    /// - Parameter times: only the next so many calls of each kind; `nil` is all.
    package func deny(_ calls: some Sequence<KernelCall>, with code: Int32, times: Int? = nil) {
        script.withLock { script in
            for call in calls { script.faults[call] = Fault(code: code, remaining: times) }
        }
    }

    /// Makes one call fail; see ``deny(_:with:times:)``.
    package func deny(_ call: KernelCall, with code: Int32, times: Int? = nil) {
        deny(CollectionOfOne(call), with: code, times: times)
    }

    /// Lets calls through again.
    package func allow(_ calls: some Sequence<KernelCall>) {
        script.withLock { script in
            for call in calls { script.faults[call] = nil }
        }
    }

    /// Returns the number of calls of a kind, failed ones included.
    package func count(of call: KernelCall) -> Int {
        script.withLock { $0.counts[call, default: 0] }
    }

    /// The number of all calls, failed ones included.
    package var total: Int {
        script.withLock { $0.counts.values.reduce(0, +) }
    }

    /// Counts the call, and throws if it is denied; else makes it.
    private func pass<Success>(
        _ call: KernelCall, _ subject: @autoclosure () -> String, _ body: () throws(KernelError) -> Success
    ) throws(KernelError) -> Success {
        let code = script.withLock { script -> Int32? in
            script.counts[call, default: 0] += 1
            guard var fault = script.faults[call], fault.remaining != 0 else { return nil }
            fault.remaining = fault.remaining.map { $0 - 1 }
            script.faults[call] = fault
            return fault.code
        }
        if let code { throw KernelError(call, code: code, subject: subject()) }
        let success = try body()
        completed?(call)
        return success
    }
}

extension FaultInjectingSchedulingCalls {
    /// Counted as `createThread`.
    package func createThread(
        stackSize: Int?, _ body: @escaping @Sendable () -> Void
    ) throws(KernelError) -> ThreadHandle {
        try pass(.createThread, "a new thread") { () throws(KernelError) in
            try base.createThread(stackSize: stackSize, body)
        }
    }

    /// Counted as `setScheduling`.
    package func setScheduling(_ scheduling: Scheduling, of thread: ThreadID) throws(KernelError) {
        try pass(.setScheduling, "\(thread) (\(scheduling))") { () throws(KernelError) in
            try base.setScheduling(scheduling, of: thread)
        }
    }

    /// Counted as `getScheduling`.
    package func scheduling(of thread: ThreadID) throws(KernelError) -> Scheduling {
        try pass(.getScheduling, "\(thread)") { () throws(KernelError) in
            try base.scheduling(of: thread)
        }
    }

    /// Counted as `setNice`.
    package func setNice(_ nice: Int, of thread: ThreadID) throws(KernelError) {
        try pass(.setNice, "\(thread) (nice \(nice))") { () throws(KernelError) in
            try base.setNice(nice, of: thread)
        }
    }

    /// Counted as `getNice`.
    package func nice(of thread: ThreadID) throws(KernelError) -> Int {
        try pass(.getNice, "\(thread)") { () throws(KernelError) in
            try base.nice(of: thread)
        }
    }

    /// Counted as `setIOPriority`.
    package func setIOPriority(_ priority: IOPriority, of thread: ThreadID) throws(KernelError) {
        try pass(.setIOPriority, "\(thread) (\(priority))") { () throws(KernelError) in
            try base.setIOPriority(priority, of: thread)
        }
    }

    /// Counted as `getIOPriority`.
    package func ioPriority(of thread: ThreadID) throws(KernelError) -> IOPriority {
        try pass(.getIOPriority, "\(thread)") { () throws(KernelError) in
            try base.ioPriority(of: thread)
        }
    }

    /// Counted as `setOwnTimerSlack` or `setTimerSlackOfOther`.
    package func setTimerSlack(nanoseconds: UInt64, of thread: ThreadID) throws(KernelError) {
        try pass(
            thread == .current ? .setOwnTimerSlack : .setTimerSlackOfOther, "\(thread) (\(nanoseconds) ns)"
        ) { () throws(KernelError) in
            try base.setTimerSlack(nanoseconds: nanoseconds, of: thread)
        }
    }

    /// Counted as `getOwnTimerSlack` or `getTimerSlackOfOther`.
    package func timerSlack(of thread: ThreadID) throws(KernelError) -> UInt64 {
        try pass(thread == .current ? .getOwnTimerSlack : .getTimerSlackOfOther, "\(thread)") {
            () throws(KernelError) in
            try base.timerSlack(of: thread)
        }
    }

    /// Counted as `setAffinity`.
    package func setAffinity(_ processors: CPUSet, of thread: ThreadID) throws(KernelError) {
        try pass(.setAffinity, "\(thread) (processors \(processors))") { () throws(KernelError) in
            try base.setAffinity(processors, of: thread)
        }
    }

    /// Counted as `getAffinity`.
    package func affinity(of thread: ThreadID) throws(KernelError) -> CPUSet {
        try pass(.getAffinity, "\(thread)") { () throws(KernelError) in
            try base.affinity(of: thread)
        }
    }

    /// Counted as `setName`.
    package func setName(_ name: ThreadName, of thread: ThreadID) throws(KernelError) {
        try pass(.setName, "\(thread)") { () throws(KernelError) in
            try base.setName(name, of: thread)
        }
    }

    /// Counted as `getName`.
    package func name(of thread: ThreadID) throws(KernelError) -> String {
        try pass(.getName, "\(thread)") { () throws(KernelError) in
            try base.name(of: thread)
        }
    }
}
