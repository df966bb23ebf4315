import CQoSShims
import QoSCore
import QoSKernel

/// Who begins to wait and for what: makes the reports and the errors.
struct LockWaiter: Sendable {
    let party: LockParty
    /// What it is called; `nil` is asked for when it is needed.
    let name: String?
    let level: QoSLevel?
    /// What the lock is called, or what else it waits for.
    let lockName: String
    let since = ContinuousClock.now

    /// Does what follows from the wait, and reports what cannot be done.
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

    /// Reports the wait, if anybody listens.
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

    /// The waits of a cycle in words: each member, what it waits for, and who has that.
    func descriptions(of cycle: LockRegistry.Cycle) -> [String] {
        cycle.links.map { link in
            let awaited = link.waiter == party ? lockName : LockRegistry.shared.nameOfResource(awaitedBy: link.waiter)
            return "\(link.waiter.name) waits for \(awaited.map { "\($0), held up by " } ?? "")\(link.awaited.name)"
        }
    }

    /// Reports a wait that could never end.
    func reportDeadlock(_ cycle: LockRegistry.Cycle, _ explanation: String) {
        report(.deadlock, holder: cycle.links.first?.awaited ?? party, explanation)
    }
}

extension LockWaiter {
    /// Lets the calling thread, which is the one that waits, sleep until something has ended that is no lock.
    ///
    /// - Parameters:
    ///   - wait: is unparked at the end; this may return before that.
    ///   - refusal: makes the error for a wait that would never end, of the waits of the circle in words.
    /// - Throws: the refusal, which is reported too. The end may have come meanwhile: the caller looks.
    func sleep<Refusal: Error>(
        _ wait: ThreadWait, awaiting awaited: any ThreadAwaited, refusal: ([String]) -> Refusal
    ) throws(Refusal) {
        do throws(LockRegistry.Cycle) {
            try LockRegistry.shared.sleep(wait, awaiting: awaited, at: level) { cycle in
                reportDeadlock(
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

    /// What it is called in reports. Reads a file for a thread: not under a lock.
    var name: String {
        guard let id = threadID else { return "task 0x\(String(word, radix: 16))" }
        let thread = ThreadID(rawValue: Int32(bitPattern: id))
        let name = try? LinuxSchedulingCalls().name(of: thread)
        return name.map { "thread '\($0)' (\(id))" } ?? "\(thread)"
    }
}
