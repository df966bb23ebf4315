import QoSCore
import QoSKernel

/// Who begins to wait and for what: makes the reports and the errors.
struct LockWaiter: Sendable {
    let party: LockParty
    /// What it is called; `nil` is asked for when it is needed.
    let name: String?
    let level: QoSLevel?
    let lockName: String
    let since = ContinuousClock.now

    /// Does what follows from the wait, and reports what cannot be done.
    func perform(_ raises: [LockRaise]) {
        for raise in raises {
            if let failure = raise.perform() { report(.unresolvedInversion, holder: raise.party, failure) }
        }
    }

    /// Reports the wait, if anybody listens.
    func report(_ kind: InversionReport.Kind, holder: LockParty, _ explanation: String) {
        InversionDetection.report {
            var holderLevel: QoSLevel?
            if case .thread(let id) = holder { holderLevel = ThreadTable[id]?.ownClass.map { QoSLevel($0) } }
            return InversionReport(
                kind: kind, waiter: .init(name: name ?? party.name, level: level), resource: lockName,
                holder: .init(name: holder.name, level: holderLevel), since: since, explanation: explanation)
        }
    }

    /// The error for a wait that could never end, which is reported too.
    func refused(by cycle: LockRegistry.Cycle) -> LockError {
        let error: LockError =
            cycle.isReentrant
            ? .reentrant(lock: lockName, holder: name ?? party.name)
            : .deadlock(lock: lockName, waits: cycle.links.map { "\($0.waiter.name) waits for \($0.holder.name)" })
        report(.deadlock, holder: cycle.links.first?.holder ?? party, "\(error)")
        return error
    }
}
