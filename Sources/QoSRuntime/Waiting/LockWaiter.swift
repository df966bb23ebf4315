import CQoSShims
import QoSCore
import QoSKernel

/// The beginning of a wait: the waiter and its target. Makes the reports and the errors.
struct LockWaiter: Sendable {
    let party: LockParticipant
    /// The waiter's name; `nil` looks it up when it is needed.
    let name: String?
    let level: QoSLevel?
    /// The name of the lock, or of another awaited object.
    let lockName: String
    let since = ContinuousClock.now

    /// Performs the effects of the wait, and reports impossible raises.
    func perform(_ effects: LockEffects, holder: LockParticipant?) {
        for raise in effects.raises {
            if let failure = raise.perform(for: lockName) { report(.unresolvedInversion, holder: raise.party, failure) }
        }
        if effects.isBeyondDepth {
            report(
                .unresolvedInversion, holder: holder,
                "the chain of locks is too long to be raised to its end: hold fewer locks at a time")
        }
    }

    /// Reports the wait, if there is a listener.
    func report(_ kind: InversionReport.Kind, holder: LockParticipant?, _ explanation: String) {
        InversionDetection.report {
            var holderLevel: QoSLevel?
            if let id = holder?.threadID { holderLevel = ThreadTable[id]?.ownClass.map { QoSLevel($0) } }
            return InversionReport(
                kind: kind, waiter: .init(name: name ?? party.nameIfCaller ?? party.name, level: level),
                resource: lockName,
                holder: .init(name: holder?.name ?? "nobody that is known", level: holderLevel), since: since,
                explanation: explanation)
        }
    }

    /// Describes the waits of a cycle: each member, its awaited resource, and the holder of that.
    func descriptions(of cycle: LockRegistry.Cycle) -> [String] {
        cycle.links.map { link in
            let awaited = link.waiter == party ? lockName : LockRegistry.shared.nameOfResource(awaitedBy: link.waiter)
            return "\(link.waiter.name) waits for \(awaited.map { "\($0), held up by " } ?? "")\(link.awaited.name)"
        }
    }

    /// Reports a wait that never ends: on standard error, if no observer listens. No other word of it would come.
    func reportEndless(_ cycle: LockRegistry.Cycle, _ explanation: String) {
        if InversionDetection.isOn { return reportDeadlock(cycle, explanation) }
        StandardError.write("warning: deadlock of \(name ?? party.name) at \(lockName): \(explanation)")
    }

    /// Reports a wait that could never end.
    func reportDeadlock(_ cycle: LockRegistry.Cycle, _ explanation: String) {
        let own = cycle.links.first { $0.waiter == party } ?? cycle.links.first
        report(.deadlock, holder: own?.awaited ?? party, explanation)
    }
}

extension LockWaiter {
    /// Blocks the calling thread, which is the waiter, until its target has ended. The target is no lock.
    ///
    /// - Parameters:
    ///   - wait: unparked at the end. The call may return before that.
    ///   - deadline: the end of the wait at the latest. The wait is then not refused.
    ///   - refusal: makes the error for a wait that would never end, from the descriptions of the circle's waits.
    /// - Throws: the refusal, which is reported too. The end may have come meanwhile: the caller has to look.
    func sleep<Refusal: Error>(
        _ wait: ThreadWait, awaiting awaited: any ThreadWaitTarget, until deadline: UInt64? = nil,
        refusal: ([String]) -> Refusal
    ) throws(Refusal) {
        do throws(LockRegistry.Cycle) {
            try LockRegistry.shared.sleep(wait, awaiting: awaited, at: level, until: deadline) { cycle in
                reportEndless(
                    cycle, "nobody on the circle can give up: \(descriptions(of: cycle).joined(separator: "; "))")
            }
        } catch {
            let refusal = refusal(descriptions(of: error))
            reportDeadlock(error, "\(refusal)")
            throw refusal
        }
    }
}

extension LockParticipant {
    /// The calling thread.
    static var callingThread: LockParticipant { .thread(cqos_own_id()) }

    /// A task.
    static func task(_ task: TaskAddress) -> LockParticipant { .task(at: task.rawValue) }

    /// The party's name in reports: of a worker's thread, with the name of the running task or work queue. Reads a file
    /// for a thread, so not under a lock.
    var name: String {
        guard let id = threadID else { return "task 0x\(String(word, radix: 16))" }
        let label = ThreadTable[id]?.worker?.value.jobLabel.flatMap { $0.isEmpty ? nil : $0 }
        return (label.map { "'\($0)' on " } ?? "") + nameOfThread(id)
    }

    private func nameOfThread(_ id: UInt32) -> String {
        let thread = ThreadID(rawValue: Int32(bitPattern: id))
        let name = try? LinuxSchedulingCalls().name(of: thread)
        return name.map { "thread '\($0)' (\(id))" } ?? "\(thread)"
    }

    /// The name of the calling thread or task, as the program has given it: that of the task, else that of the work queue
    /// whose item the thread runs, else that of the Dispatch queue on which it is. With the thread's own name.
    static var nameOfCaller: String {
        let own = Task.name ?? labelOfCurrentItem ?? labelOfDispatchQueue
        return (own.map { "'\($0)' on " } ?? "") + callingThread.nameOfThread(cqos_own_id())
    }

    private static var labelOfCurrentItem: String? {
        guard let item = unsafe cqos_current_item() else { return nil }
        // SAFETY: the code that runs an item keeps it alive, on this thread.
        let label = unsafe Unmanaged<PoolEntry>.fromOpaque(item)._withUnsafeGuaranteedRef { $0.label }
        return label.isEmpty ? nil : label
    }

    /// The label of the Dispatch queue that runs the calling code; `nil` outside of Dispatch, and on its own queues.
    private static var labelOfDispatchQueue: String? {
        guard let address = unsafe dispatchQueueLabel(nil) else { return nil }
        let label = unsafe String(cString: address)
        return label.isEmpty || label.hasPrefix("com.apple.root.") ? nil : label
    }

    /// ``nameOfCaller``, if this party is the calling thread.
    fileprivate var nameIfCaller: String? { self == .callingThread ? Self.nameOfCaller : nil }
}

/// The label of a Dispatch queue; of the current one for `nil`, and empty without one (dispatch_queue_get_label(3)).
@_silgen_name("dispatch_queue_get_label")
private func dispatchQueueLabel(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>?
