internal import QoSCore

extension WorkloadTable {
    /// Renews a lease.
    package mutating func renewed(_ lease: WorkloadLease) -> LeaseStanding {
        guard items.contains(lease.item), self[lease.item].record.life.renewed(under: lease.fence) else { return .lost }
        return standing(of: lease)
    }

    /// Returns the standing of a lease, without renewing it.
    package func standing(of lease: WorkloadLease) -> LeaseStanding {
        guard isHeld(lease) else { return .lost }
        let record = self[lease.item].record
        return .held(
            LeaseTerms(
                level: record.level, cancellation: record.life.cancellation,
                deferral: paused[record.request.name]?.reason))
    }

    private func isHeld(_ lease: WorkloadLease) -> Bool {
        items.contains(lease.item) && self[lease.item].record.life.isHeld(under: lease.fence)
    }

    /// Keeps a checkpoint and a progress; `nil` leaves the old one.
    ///
    /// - Returns: whether the lease is valid. Otherwise nothing is kept.
    package mutating func saved(
        _ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease
    ) -> Bool {
        guard isHeld(lease) else { return false }
        if let checkpoint, checkpoint != self[lease.item].record.checkpoint {
            self[lease.item].record.checkpoint = checkpoint
            self[lease.item].record.life.progressed()
        }
        if let progress { self[lease.item].record.progress = progress }
        return true
    }

    /// Keeps a remark about an attempt.
    ///
    /// - Returns: whether the lease is valid.
    package mutating func noted(_ remark: String, under lease: WorkloadLease) -> Bool {
        guard isHeld(lease) else { return false }
        return self[lease.item].record.life.noted(remark, under: lease.fence)
    }

    /// Ends an attempt.
    ///
    /// - Returns: the state of the item; `nil` if the lease is not valid.
    package mutating func attemptEnded(
        _ lease: WorkloadLease, _ result: AttemptResult, at now: WallTime, _ effects: inout TableEffects
    ) -> WorkloadState? {
        guard isHeld(lease) else { return nil }
        // A due item may raise the holders of its key: also this one, while it runs.
        clockRead(now, &effects)
        var life = self[lease.item].record.life
        let request = self[lease.item].record.request
        let entry = life.history(of: result, at: now)
        guard
            let ending = life.attemptEnded(
                under: lease.fence, result, retry: request.retry, repeats: request.schedule.repeats,
                seed: UInt64(bitPattern: lease.item.rawValue), at: now)
        else { return nil }
        self[lease.item].record.life = life
        keep(entry, of: lease.item)
        settle(lease.item, after: ending, at: now, &effects)
        return record(lease.item)?.state
    }

    /// Ends the attempt of a host that has lost its lease, unless it was renewed since the sighting.
    ///
    /// - Returns: whether it was ended.
    package mutating func leaseLost(
        _ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime, _ effects: inout TableEffects
    ) -> Bool {
        let id = sighting.lease.item
        guard isHeld(sighting.lease), self[id].record.life.beat == sighting.beat else { return false }
        mark += 1
        clockRead(now, &effects)
        var life = self[id].record.life
        let request = self[id].record.request
        let entry = life.history(of: loss, at: now)
        guard
            let ending = life.leaseLost(
                under: sighting.lease.fence, beat: sighting.beat, because: loss, retry: request.retry,
                repeats: request.schedule.repeats, seed: UInt64(bitPattern: id.rawValue), at: now)
        else { return false }
        self[id].record.life = life
        keep(entry, of: id)
        settle(id, after: ending, at: now, &effects)
        return true
    }

    private mutating func keep(_ entry: WorkloadAttempt?, of id: WorkloadItemID) {
        guard let entry else { return }
        self[id].history.append(entry)
        if self[id].history.count > WorkloadAttempt.kept { self[id].history.removeFirst() }
    }

    /// Gives an item the place that follows from the end of its attempt.
    private mutating func settle(
        _ id: WorkloadItemID, after ending: WorkloadLife.Ending, at now: WallTime, _ effects: inout TableEffects
    ) {
        leaveRunning(id, &effects)
        switch ending {
        case .waits(let delay):
            if let delay { self[id].record.delayed(by: delay, at: now) }
            settle(id, because: self[id].record.life.reason, at: now, &effects)
        case .runFinished(let repeats):
            self[id].record.checkpoint = nil
            runEnded(id, failed: false, repeats: repeats, at: now, &effects)
        case .runFailed(let repeats):
            runEnded(id, failed: true, repeats: repeats, at: now, &effects)
        case .cancelled: end([id], at: now, &effects)
        }
    }

    private mutating func runEnded(
        _ id: WorkloadItemID, failed: Bool, repeats: Bool, at now: WallTime, _ effects: inout TableEffects
    ) {
        self[id].record.runEnded()
        guard repeats else {
            end([id], at: now, &effects)
            return
        }
        end(releaseChildren(of: id, failed: failed, at: now, &effects), at: now, &effects)
        self[id].record.planNextRun(at: now)
        settle(id, because: failed ? self[id].record.life.reason : nil, at: now, &effects)
    }

    private mutating func leaveRunning(_ id: WorkloadItemID, _ effects: inout TableEffects) {
        running.remove(id)
        effects.hasReady = true
        guard let key = self[id].record.request.concurrency else { return }
        keys[key.key]?.running.remove(id)
        refill(key, &effects)
    }

    // MARK: The end of items

    /// Ends items whose lives have ended, and cancels the children whose policies say so, and theirs.
    mutating func end(_ ids: [WorkloadItemID], at now: WallTime, _ effects: inout TableEffects) {
        var open = ids
        while let id = open.popLast() {
            unqueue(id)
            effects.ended.append(id)
            passUniqueKey(of: id)
            refill(self[id].record.request.concurrency, &effects)
            for parent in Array(self[id].parents.keys) { self[parent].children.remove(id) }
            self[id].parents = [:]
            open += releaseChildren(of: id, failed: self[id].record.state != .finished, at: now, &effects)
        }
    }

    /// Takes a dependency away from the children of an item.
    ///
    /// - Returns: the children that are cancelled because of it. Their ends must follow.
    private mutating func releaseChildren(
        of id: WorkloadItemID, failed: Bool, at now: WallTime, _ effects: inout TableEffects
    ) -> [WorkloadItemID] {
        var cancelled: [WorkloadItemID] = []
        let children = self[id].children.sorted()
        self[id].children = []
        for child in children {
            let runsAnyway = self[child].parents.removeValue(forKey: id) == true
            if failed, !runsAnyway, self[child].record.request.onFailedParent == .cancel {
                let reason = failureReason(of: id)
                if self[id].record.state.isEnded { orphan(child, of: id) }
                if self[child].record.life.cancelled(because: reason, at: now) == .ended { cancelled.append(child) }
            } else if self[child].parents.isEmpty, self[child].place == nil {
                settle(child, at: now, &effects)
            }
        }
        return cancelled
    }

    /// Gives the unique key of an ended item to the one with this key that it has waited for. Those that wait for the
    /// ended one wait for that one from now on. So two items with the key never run beside one another.
    private mutating func passUniqueKey(of id: WorkloadItemID) {
        guard let key = self[id].record.request.unique?.key else { return }
        let before = InsertionPlan.predecessors(of: id, in: self)
        if !before.isEmpty {
            for child in self[id].children.sorted() where uniqueKey(of: child) == key {
                for parent in before { link(child, to: parent, runsAnyway: true) }
            }
        }
        if unique[key] == id { unique[key] = before.last }
    }

    // MARK: Orphans

    /// Notes all parents of an item that is about to be cancelled because of one of them.
    mutating func orphan(_ id: WorkloadItemID, of parent: WorkloadItemID) {
        guard self[id].record.state.isWaiting else { return }
        let parents = Set(self[id].parents.keys).union([parent])
        self[id].lostParents = parents
        for parent in parents { self[parent].lostChildren.insert(id) }
    }

    /// Revives the items that were cancelled because of a revived one, and theirs: each one that no other lost parent
    /// holds back, and whose unique key is free.
    mutating func reviveChildren(of id: WorkloadItemID, at now: WallTime, _ effects: inout TableEffects) {
        var open: Set = [id]
        while let parent = open.min() {
            open.remove(parent)
            for child in self[parent].lostChildren.sorted() {
                let parents = self[child].lostParents.filter { items.contains($0) }
                let isHeldBack = parents.contains { [.dead, .cancelled].contains(self[$0].record.state) }
                let key = uniqueKey(of: child)
                guard !isHeldBack, key.map({ unique[$0] == nil }) ?? true,
                    self[child].record.life.revivedWithParent(at: now)
                else { continue }
                forgetParents(of: child)
                if let key { unique[key] = child }
                for parent in parents { link(child, to: parent, runsAnyway: false) }
                settle(child, at: now, &effects)
                raise(Array(self[child].parents.keys), to: self[child].record.level, &effects)
                open.insert(child)
            }
        }
    }

    /// Forgets the lost parents of an item.
    mutating func forgetParents(of id: WorkloadItemID) {
        for parent in self[id].lostParents where items.contains(parent) { self[parent].lostChildren.remove(id) }
        self[id].lostParents = []
    }

    /// The reason for which an item is cancelled after one of its parents.
    func failureReason(of parent: WorkloadItemID) -> String { self[parent].record.failureReason }
}
