import CQoSShims
import QoSCore
import QoSKernel

/// The beginning of a wait: the waiter and its target. Makes the reports and the errors.
struct LockWaiter: Sendable {
    let party: LockParty
    /// The waiter's name; `nil` looks it up when it is needed.
    let name: String?
    let level: QoSLevel?
    /// The name of the lock, or of another awaited object.
    let lockName: String
    let since = ContinuousClock.now

    /// Performs the effects of the wait, and reports impossible raises.
    func perform(_ effects: LockEffects, holder: LockParty?) {
        for raise in effects.raises {
            if let failure = raise.perform() { report(.unresolvedInversion, holder: raise.party, failure) }
        }
        if effects.isBeyondDepth {
            report(
                .unresolvedInversion, holder: holder,
                "the chain of locks is too long to be raised to its end: hold fewer locks at a time")
        }
    }

    /// Reports the wait, if there is a listener.
    func report(_ kind: InversionReport.Kind, holder: LockParty?, _ explanation: String) {
        InversionDetection.report {
            var holderLevel: QoSLevel?
            if let id = holder?.threadID { holderLevel = ThreadTable[id]?.ownClass.map { QoSLevel($0) } }
            return InversionReport(
                kind: kind, waiter: .init(name: name ?? party.name, level: level), resource: lockName,
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
        report(.deadlock, holder: cycle.links.first?.awaited ?? party, explanation)
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
        _ wait: ThreadWait, awaiting awaited: any ThreadAwaited, until deadline: UInt64? = nil,
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

extension LockParty {
    /// The calling thread.
    static var callingThread: LockParty { .thread(cqos_own_id()) }

    /// A task.
    static func task(_ task: TaskAddress) -> LockParty { .task(at: task.rawValue) }

    /// The party's name in reports. Reads a file for a thread, so not under a lock.
    var name: String {
        guard let id = threadID else { return "task 0x\(String(word, radix: 16))" }
        let thread = ThreadID(rawValue: Int32(bitPattern: id))
        let name = try? LinuxSchedulingCalls().name(of: thread)
        return name.map { "thread '\($0)' (\(id))" } ?? "\(thread)"
    }
}
