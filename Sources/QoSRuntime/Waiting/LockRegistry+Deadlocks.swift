import QoSCore
import QoSKernel

// Waits that could never end (rule I5). A thread enters its wait first and looks then. So if several threads close a
// circle together, the last one finds it.
//
// On its way to sleep a thread may run foreign code, and holds what that code has locked. So it counts as going on
// until it falls asleep. If a look has passed over it by then, it looks once more.

extension LockRegistry {
    /// The result of one look at all reachable parties.
    private struct Look {
        var standstill: DeadlockedSet<LockParticipant, LockResource>
        /// The wait in which each party was found.
        var waits: [LockParticipant: UInt64]
        /// The parties whose waits may still be refused.
        var unsettled: Set<LockParticipant>
        /// The objects of the look. They are released when no lock is held: the last reference to an item may go with
        /// user code.
        var kept: [AnyObject]
    }

    /// Refuses a wait that could never end. The wait has been entered; no other lock is held.
    ///
    /// A look takes one lock after the other, so its results may come from different moments. A circle counts when its
    /// members slept in the same waits before, during and after a look. The refused wait is withdrawn before another
    /// thread finds the circle, so only one member is refused.
    ///
    /// - Parameter withdraw: takes the wait back; `false` when it has ended meanwhile, or is not the one to refuse.
    /// - Returns: the circle; `nil` when the wait was not taken back.
    func refuse(_ party: LockParticipant, _ withdraw: (Cycle) -> Bool) -> Cycle? {
        defer { with(party) { $0.record.settles() } }
        guard look(from: party).standstill.includes(party) else { return nil }
        var kept: [AnyObject] = []
        let refused = deadlocks.withLock { _ -> Cycle? in
            guard let found = circle(through: party, &kept), withdraw(found) else { return nil }
            return found
        }
        return withExtendedLifetime(kept) { refused }
    }

    /// Notes that a party's thread goes to sleep in its wait for a resource. On the thread, which runs no foreign code
    /// from then on.
    ///
    /// - Returns: whether a look has passed over the wait. Look for a circle then, and call this again.
    func fallsAsleep(_ party: LockParticipant, for resource: LockResource) -> Bool {
        with(party) { $0.record.fallsAsleep(for: resource) }
    }

    private func circle(through party: LockParticipant, _ kept: inout [AnyObject]) -> Cycle? {
        while true {
            let (first, second) = (look(from: party), look(from: party))
            kept += first.kept + second.kept
            let standstill = second.standstill
            guard first.standstill.includes(party), standstill.includes(party) else { return nil }
            let isStable = second.waits.allSatisfy { member, wait in
                !standstill.includes(member)
                    || first.waits[member] == wait && entry(of: member)?.record.wait?.id == wait
            }
            guard isStable else { continue }
            let circle = standstill.circle(through: party)
            if !circle.isEmpty { return Cycle(links: circle) }
            // The party waits for a circle without being part of it. The party that has closed that circle may yet open
            // it.
            let isFinal = second.unsettled.allSatisfy { $0 == party || !standstill.includes($0) }
            return isFinal ? Cycle(links: standstill.way(from: party)) : nil
        }
    }

    private func look(from party: LockParticipant) -> Look {
        var waits: [LockParticipant: UInt64] = [:]
        var unsettled: Set<LockParticipant> = []
        var kept: [AnyObject] = []
        let standstill = DeadlockedSet<LockParticipant, LockResource>(from: CollectionOfOne(party)) { waiter in
            guard let (wait, source) = self.wait(of: waiter, isAsking: waiter == party) else { return nil }
            waits[waiter] = wait.id
            if !wait.isSettled { unsettled.insert(waiter) }
            let resource = wait.resource
            switch source {
            case .gate(let gate):
                kept.append(gate)
                return Self.one(of: gate.knownHolders, resource)
            case .mutex:
                return Self.one(of: withSite(of: resource) { $0?.holders.all ?? [] }, resource)
            case .execution:
                return Self.one(of: [.thread(resource.thread)], resource)
            case .awaited(let awaiting):
                kept.append(awaiting)
                return .all(awaiting.awaited.blockers.map { (.thread($0), resource) })
            }
        }
        return Look(standstill: standstill, waits: waits, unsettled: unsettled, kept: kept)
    }

    /// Returns a wait for one share of a lock. Without a known holder the wait may end.
    private static func one(
        of holders: [LockParticipant], _ resource: LockResource
    ) -> DeadlockedSet<LockParticipant, LockResource>.Wait? {
        holders.isEmpty ? nil : .any(1, of: holders.map { ($0, resource) })
    }

    private enum Source {
        case gate(PermitQueue)
        case mutex
        case execution
        case awaited(ThreadTargetWait)
    }

    /// - Parameter isAsking: whether the wait is that of the calling thread, which is about to sleep.
    private func wait(of party: LockParticipant, isAsking: Bool) -> (WaitRecord.Wait, Source)? {
        with(party) { entry in
            guard let wait = entry.record.wait else { return nil }
            if !isAsking, entry.record.passesOver() { return nil }
            switch wait.resource.kind {
            // SAFETY: a gate outlives the waits for it. This wait has not ended: its end is noted under the shard's
            // lock.
            case .gate: return unsafe (wait, .gate(PermitQueue.at(wait.resource.address)))
            case .mutex:
                // A wait that is given up is about to end.
                guard entry.call?.refusal == nil else { return nil }
                return (wait, .mutex)
            case .execution: return (wait, .execution)
            case .awaited:
                // One with a deadline ends in any case.
                guard let awaiting = entry.awaiting, awaiting.refusal == nil, awaiting.deadline == nil else {
                    return nil
                }
                return (wait, .awaited(awaiting))
            }
        }
    }
}
