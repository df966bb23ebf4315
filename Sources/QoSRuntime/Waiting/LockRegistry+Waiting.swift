import QoSCore
import QoSKernel
import Synchronization

/// Actions after a wait began, ended or changed, for when its locks have been given back.
struct LockEffects {
    /// A waiting party whose effective level has changed.
    struct Link {
        let party: LockParticipant
        let resource: LockResource
        let wait: UInt64
        /// Kept while its line is put in order.
        let gate: PermitQueue?
    }

    /// The raises to perform.
    var raises: [LockRaise] = []

    /// The waits along which the change goes on.
    var links: [Link] = []

    /// Whether the wait could be the last of a circle: a holder waits, or another party waits for a lock of the waiter.
    var mayCloseCircle = false

    /// Whether the waiter's record has the wait. If not, the search for circles does not see it.
    var isRecorded = true

    /// Whether the chain was longer than ``LockRegistry/depthLimit``. The parties at its end are then not raised.
    var isBeyondDepth = false

    /// Whether there is nothing to do.
    var isEmpty: Bool { raises.isEmpty && links.isEmpty && !mayCloseCircle }

    /// Performs the raises. Impossible raises were reported when the wait began. No lock is held.
    func perform() {
        for raise in raises { _ = raise.perform() }
    }

    /// Performs the raises of a wait that was refused. Other waiters may rely on them: they changed nothing, because
    /// this one was there.
    ///
    /// - Parameter isAwaited: whether there are other waiters. If not, no task is raised: that cannot be taken back.
    func performRefused(isAwaited: Bool) {
        for raise in raises {
            if !isAwaited, case .task = raise.means { raise.discard() } else { _ = raise.perform() }
        }
    }
}

// The effects of a wait's beginning and end on the line and on the holders of the lock. Each method but the last runs
// under the lock of the site.

extension LockRegistry {
    /// Begins a party's wait for a lock.
    ///
    /// The wait is known before the look at its holders. If two parties begin to wait for each other at the same time,
    /// at least one sees the other.
    ///
    /// - Parameters:
    ///   - token: the party's token in the line.
    ///   - isAwake: whether the party is a thread that calls ``fallsAsleep(_:for:)`` before it sleeps.
    /// - Returns: the party's place in the line.
    func begin(
        _ party: LockParticipant, at level: LevelCode, for resource: LockResource, token: UInt, isAwake: Bool = false,
        _ site: inout LockQueue, _ effects: inout LockEffects
    ) -> Int {
        let (isFirst, before) = (site.line.count == 0, site.line.highest)
        let place = site.line.add(token, at: level)
        let begun = begins(party, at: level, for: resource, place: place, isAwake: isAwake)
        effects.isRecorded = begun.isRecorded
        effects.mayCloseCircle = begun.isAwaited
        site.line.changeLevel(at: place, to: begun.effective)
        if isFirst || site.line.highest != before { demand(for: resource, site, &effects) }
        return place
    }

    /// A wait's beginning.
    struct Begun {
        /// Whether the party's record has the wait: it had no other one.
        let isRecorded: Bool
        /// The effective level of the wait.
        let effective: LevelCode
        /// Whether others wait for locks of the party.
        let isAwaited: Bool
    }

    /// Notes that a party waits.
    ///
    /// - Parameters:
    ///   - isAwake: whether the party is a thread that calls ``fallsAsleep(_:for:)`` before it sleeps.
    ///   - also: called if the party's record has the wait.
    func begins(
        _ party: LockParticipant, at level: LevelCode, for resource: LockResource, place: Int = 0,
        isAwake: Bool = false, _ also: (inout Entry) -> Void = { _ in }
    ) -> Begun {
        withNewWait(of: party) { entry, id in
            let wait = WaitRecord.Wait(for: resource, place: place, id: id, own: level, isAwake: isAwake)
            let isRecorded = entry.record.begins(wait)
            if isRecorded { also(&entry) }
            return Begun(
                isRecorded: isRecorded, effective: max(level, entry.record.effective),
                isAwaited: entry.record.isAwaited)
        }
    }

    /// Gives up a party's wait for a lock.
    func withdraw(
        _ party: LockParticipant, at place: Int, from resource: LockResource, _ site: inout LockQueue,
        _ effects: inout LockEffects
    ) {
        let before = site.line.highest
        site.line.remove(at: place)
        stopsWaiting(party, for: resource)
        if site.line.count == 0 || site.line.highest != before { demand(for: resource, site, &effects) }
    }

    /// Raises the party that waits at a place.
    func raised(
        _ party: LockParticipant, at place: Int, to level: LevelCode, for resource: LockResource,
        _ site: inout LockQueue,
        _ effects: inout LockEffects
    ) {
        let before = site.line.highest
        let effective = with(party) { entry in
            entry.record.raiseOwn(to: level)
            return entry.record.effective
        }
        site.line.changeLevel(at: place, to: effective)
        if site.line.highest != before { demand(for: resource, site, &effects) }
    }

    /// Whether a party's record has a wait. Exact under the lock of that wait's site.
    func isWaiting(_ party: LockParticipant) -> Bool {
        entry(of: party)?.record.wait != nil
    }

    /// Notes that a party waits for a resource no more.
    func stopsWaiting(_ party: LockParticipant, for resource: LockResource) {
        with(party) { $0.record.stopsWaiting(for: resource) }
    }

    /// Hands a share of a lock from one party to the next in the line, which is not empty.
    ///
    /// - Parameters:
    ///   - holder: the party that gives it back; `nil` if that is not known.
    ///   - newHolder: returns the waiting party of a token, whether it holds its share, and the known level of a task.
    /// - Returns: the token of the new holder.
    func handOver(
        _ resource: LockResource, from holder: LockParticipant?, _ site: inout LockQueue, _ effects: inout LockEffects,
        newHolder: (UInt) -> (party: LockParticipant, isOwned: Bool, known: LevelCode)
    ) -> UInt? {
        let before = site.line.highest
        guard let token = site.line.removeFirst() else { return nil }
        if let holder {
            site.holders.remove(holder)
            if !site.holders.contains(holder) { demandNothing(of: holder, for: resource, &effects) }
        }
        let (isEmpty, highest) = (site.line.count == 0, site.line.highest)
        if isEmpty || highest != before { demand(for: resource, site, &effects) }
        let (next, isOwned, known) = newHolder(token)
        with(next) { entry in
            // What others demanded of it meanwhile has raised it.
            entry.known = max(known, entry.record.inherited)
            entry.record.stopsWaiting(for: resource)
            if isOwned, !isEmpty {
                change(&entry, of: next, &effects) { $0.demands(highest, for: resource) }
            }
        }
        if isOwned { site.holders.append(next) }
        return token
    }

    /// Tells all holders of a lock the level that is now demanded of them.
    func demand(for resource: LockResource, _ site: LockQueue, _ effects: inout LockEffects) {
        let (isEmpty, highest) = (site.line.count == 0, site.line.highest)
        for holder in site.holders.all {
            if isEmpty {
                demandNothing(of: holder, for: resource, &effects)
            } else {
                demand(highest, of: holder, for: resource, &effects)
            }
        }
    }

    /// Notes the highest level of the waiters for a lock of a party.
    func demand(
        _ level: LevelCode, of holder: LockParticipant, for resource: LockResource, _ effects: inout LockEffects
    ) {
        with(holder) { entry in
            if entry.record.wait != nil { effects.mayCloseCircle = true }
            change(&entry, of: holder, &effects) { $0.demands(level, for: resource) }
        }
    }

    /// Notes that a party has lost the lock, or its last waiter.
    func demandNothing(of holder: LockParticipant, for resource: LockResource, _ effects: inout LockEffects) {
        with(holder) { entry in
            change(&entry, of: holder, &effects) { $0.demandsNothing(for: resource) }
        }
    }

    /// Changes the level demanded of a party, and notes the effects. Under its shard's lock.
    private func change(
        _ entry: inout Entry, of party: LockParticipant, _ effects: inout LockEffects,
        _ body: (inout WaitRecord) -> Void
    ) {
        let (inherited, effective) = (entry.record.inherited, entry.record.effective)
        body(&entry.record)
        if entry.record.inherited != inherited { entry.note(from: inherited, of: party, &effects) }
        if entry.record.effective != effective { noteLink(entry, of: party, &effects) }
    }

    /// Notes that the level of a wait has changed. Under the lock of the party's shard.
    func noteLink(_ entry: Entry, of party: LockParticipant, _ effects: inout LockEffects) {
        guard let wait = entry.record.wait, wait.resource.kind != .awaited else { return }
        // SAFETY: a gate outlives the waits for it. This wait has not ended: its end is noted under the shard's lock.
        let gate = wait.resource.kind == .gate ? unsafe PermitQueue.at(wait.resource.address) : nil
        effects.links.append(.init(party: party, resource: wait.resource, wait: wait.id, gate: gate))
    }

    /// Brings lines and holders in order along the waits whose level has changed. No lock is held.
    func follow(_ effects: inout LockEffects) {
        var depth = 1
        while !effects.links.isEmpty {
            let links = effects.links
            effects.links = []
            if depth >= Self.depthLimit {
                effects.isBeyondDepth = true
                return
            }
            for link in links { follow(link, &effects) }
            depth += 1
        }
    }

    private func follow(_ link: LockEffects.Link, _ effects: inout LockEffects) {
        switch link.resource.kind {
        case .gate:
            link.gate?.withSite { site in reorder(link, &site, &effects) }
        case .mutex:
            withSite(of: link.resource) { site in
                guard var present = site.take() else { return }
                reorder(link, &present, &effects)
                site = present
            }
        case .execution:
            withSite(of: link.resource) { _ in
                guard let wait = wait(of: link) else { return }
                demand(wait.effective, of: .thread(link.resource.thread), for: link.resource, &effects)
            }
        case .awaited:
            break
        }
    }

    private func reorder(_ link: LockEffects.Link, _ site: inout LockQueue, _ effects: inout LockEffects) {
        guard let wait = wait(of: link) else { return }
        let before = site.line.highest
        site.line.changeLevel(at: wait.place, to: wait.effective)
        if site.line.highest != before { demand(for: link.resource, site, &effects) }
    }

    private func wait(of link: LockEffects.Link) -> (place: Int, effective: LevelCode)? {
        guard let entry = entry(of: link.party), let wait = entry.record.wait, wait.id == link.wait else { return nil }
        return (wait.place, entry.record.effective)
    }
}

extension LockRegistry.Entry {
    /// Notes the raises that follow from a change of the party's inherited level. Under the lock of its shard.
    fileprivate mutating func note(from before: LevelCode, of party: LockParticipant, _ effects: inout LockEffects) {
        let now = record.inherited
        if let task = party.taskAddress {
            let address = TaskAddress(rawValue: task)
            // A task's priority cannot be taken back.
            if now == .none { RaisedTasks.end(.lock, of: address) }
            let known = max(before, known)
            guard let level = now.level, known == .none || now.rank > known.rank else { return }
            let isRetained = ConcurrencyRuntime.retain(address)
            if isRetained, let base = ConcurrencyRuntime.baseClass(of: address), base >= level.qosClass {
                RaisedTasks.raise(address, to: level.qosClass, for: .lock)
            }
            effects.raises.append(
                LockRaise(party: party, means: isRetained ? .task(address, level.qosClass) : .impossible))
        } else if let id = party.threadID {
            if before == .none { LockRegistry.demandedThreads.add(1, ordering: .relaxed) }
            if now == .none { LockRegistry.demandedThreads.subtract(1, ordering: .relaxed) }
            guard now != .none || raise != nil else { return }
            let thread = raise ?? ThreadRaise(id: id)
            raise = thread
            thread.targetClass = now.level?.qosClass
            // The thread itself takes raises back.
            guard now != .none else { return }
            effects.raises.append(
                LockRaise(party: party, means: awaiting.map { .awaited(thread, $0, now) } ?? .thread(thread)))
        }
    }
}
