extension OperationGraph {
    /// Begins a wait for another operation: by an operation's body, its conditions, or a child task of these.
    ///
    /// If a dependency or a condition of the other one may fail, and so end it, the wait begins. Then
    /// ``endHopelessWaits(_:)`` ends it, should they succeed.
    ///
    /// - Parameters:
    ///   - waiter: the operation that waits.
    ///   - id: the other one.
    ///   - promotes: whether the other one rises with it while the wait lasts (rule O9).
    /// - Returns: a value for ``waitEnded(_:)``.
    /// - Throws: ``OperationGraphError/deadlock(_:)`` if the other one can end only after this one. No wait has begun
    ///   then.
    @discardableResult
    package mutating func waitBegan(
        by waiter: OperationID, for id: OperationID, promotes: Bool = true
    ) throws(OperationGraphError) -> BegunWait {
        try waitBegan(by: waiter.index, for: .operation(id.index), promotes: promotes)
    }

    /// Begins a wait for a queue to become idle: by an operation's body, its conditions, or a child task of these.
    ///
    /// - Parameters:
    ///   - waiter: the operation that waits.
    ///   - queue: the queue.
    ///   - promotes: whether the queue's operations rise with it while the wait lasts (rule O9).
    /// - Returns: a value for ``waitEnded(_:)``; `nil` if the queue is idle.
    /// - Throws: ``OperationGraphError/deadlock(_:)`` if the queue can become idle only after this one. No wait has
    ///   begun then.
    @discardableResult
    package mutating func waitBegan(
        by waiter: OperationID, for queue: OperationQueueID, promotes: Bool = true
    ) throws(OperationGraphError) -> BegunWait? {
        guard queues[Int(queue.index)].unfinished > 0 else { return nil }
        return try waitBegan(by: waiter.index, for: .queue(queue.index), promotes: promotes)
    }

    /// Whether a wait may have to end without its target.
    package func isHopeful(_ wait: BegunWait) -> Bool { waits.hopeful[wait.wait] != nil }

    /// Ends a wait. Does nothing if its target has already finished.
    package mutating func waitEnded(_ wait: BegunWait) {
        waits.ended(wait.wait)
    }

    /// The highest level of the operations that wait for a queue and raise what is in it, or is added; `nil` without
    /// one (rule O9).
    package func levelOfWaiters(for queue: OperationQueueID) -> QoSLevel? {
        guard !waits.isEmpty else { return nil }
        return waits.promoters(of: .queue(queue.index)).map { operations[Int($0)].level }.max()?.level
    }

    /// A wait that has begun. It belongs to one graph.
    package struct BegunWait: Sendable, Hashable {
        fileprivate let wait: OperationWaits.Begun
    }

    private mutating func waitBegan(
        by waiter: UInt32, for target: OperationWaits.Target, promotes: Bool
    ) throws(OperationGraphError) -> BegunWait {
        let record = operations[Int(waiter)]
        let place = record.state == .running ? record.queue : nil
        let begun = waits.began(by: waiter, in: place, for: target, promotes: promotes)
        guard isAwaited(waiter) || target == .operation(waiter) else { return BegunWait(wait: begun) }
        var strict = DeadlockSearch(self, .ofWaitIfAllSucceeds)
        guard strict.deadlock(closedBy: waiter, along: [.wait]) != nil else { return BegunWait(wait: begun) }
        var search = DeadlockSearch(self, .ofWait)
        if let found = search.deadlock(closedBy: waiter, along: [.wait]) {
            waits.ended(begun)
            throw .deadlock(found)
        }
        waits.isHopeful(begun, for: target)
        return BegunWait(wait: begun)
    }

    /// Ends the waits that cannot end by themselves any more: what could have failed has succeeded. The effects name
    /// them.
    ///
    /// - Complexity: O(1) without such waits; otherwise a ``DeadlockSearch`` for each.
    package mutating func endHopelessWaits(_ effects: inout OperationEffects) {
        guard !waits.hopeful.isEmpty else { return }
        for (wait, target) in waits.hopeful.sorted(by: { $0.key.number < $1.key.number }) {
            var search = DeadlockSearch(self, .ofWait)
            guard let circle = search.deadlock(of: wait.waiter, waitingFor: target) else { continue }
            waits.ended(wait)
            let awaited: OperationEffects.Refusal.Target =
                switch target {
                case .operation(let id): .operation(OperationID(index: id))
                case .queue(let queue): .queue(OperationQueueID(index: queue))
                }
            effects.refused.append(.init(wait: BegunWait(wait: wait), target: awaited, circle: circle))
        }
    }

    /// Returns the deadlock that a dependency would close, other than one of dependencies alone; `nil` without one.
    ///
    /// - Complexity: O(1) if no operation waits in its body and no queue has a barrier; otherwise as
    ///   ``DeadlockSearch``.
    func deadlock(closedBy child: OperationID, dependingOn parent: OperationID) -> [GraphWait]? {
        guard dividedQueues > 0 || !waits.isEmpty, isAwaited(child.index) else { return nil }
        var search = DeadlockSearch(self)
        return search.deadlock(closedBy: child.index, dependingOn: parent.index)
    }

    /// Whether adding operations to a queue can make a deadlock at all. This needs a barrier in the queue or the list,
    /// an operation that waits for the queue, or a queue whose places are all taken by operations that wait.
    ///
    /// - Complexity: O(1).
    package func mayDeadlock(addingTo queue: OperationQueueID, hasBarriers: Bool) -> Bool {
        let place = Int(queue.index)
        if hasBarriers || queues[place].isDivided { return true }
        guard !waits.isEmpty else { return false }
        return waits.isAwaited(.queue(queue.index))
            || waits.waiters(in: queue.index).count >= queues[place].limit
    }

    /// Returns the deadlock that adding operations to a queue in this order would make; `nil` without one. It adds
    /// nothing.
    ///
    /// An operation behind a barrier, or a barrier, waits for those in front. These must not wait for it. A circle that
    /// none of the list is on, because it was there before, refuses nothing.
    ///
    /// - Complexity: O(list) if nothing waits for the added operations; otherwise as ``DeadlockSearch``.
    /// - Parameters:
    ///   - ids: the list; none of them is in a queue.
    ///   - queue: the queue that gets them.
    ///   - list: the result of ``listBegan(_:in:)`` for the list that contains them; `nil` if no list has begun.
    package func deadlock(
        adding ids: [OperationID], to queue: OperationQueueID, of list: ListPlaces? = nil
    ) -> [GraphWait]? {
        let isQueueAwaited = waits.isAwaited(.queue(queue.index))
        // A barrier that came behind a list waits for all of it. Only a dependency can make one of the list wait for
        // it.
        let isFollowed = list.map { $0.segment < queues[Int(queue.index)].lastSegment } ?? false
        let awaited = ids.map(\.index).filter { index in
            isQueueAwaited || isAwaited(index) || isFollowed && operations[Int(index)].unfinishedParents > 0
        }
        guard let first = awaited.first else { return nil }
        var search = DeadlockSearch(self)
        var segment = list?.segment ?? queues[Int(queue.index)].lastSegment
        for id in ids {
            let isBarrier = operations[Int(id.index)].isBarrier
            if isBarrier { segment += 1 }
            search.place(id.index, in: queue.index, segment: segment)
            if isBarrier { segment += 1 }
        }
        guard ids.count == 1, !isQueueAwaited, list == nil else { return search.deadlock(through: awaited) }
        // Of one alone it is known which of its links are new. A circle that it only waits for is none of its own.
        let found = search.deadlock(closedBy: first, along: [.barrier, .limit])
        return found?.contains { $0.waiter.index == first } == true ? found : nil
    }

    /// Whether something may wait for an operation, by any of the reasons. `true` may be wrong.
    private func isAwaited(_ operation: UInt32) -> Bool {
        let record = operations[Int(operation)]
        if record.firstDependent != DependencyEdges.none || waits.isAwaited(.operation(operation)) { return true }
        guard record.queue != OperationRecord.noQueue else { return false }
        let place = Int(record.queue)
        return record.segment < queues[place].lastSegment || waits.isAwaited(.queue(record.queue))
            || (record.state == .running && queues[place].unfinished > queues[place].running
                && waits.waiters(in: record.queue).count >= queues[place].limit)
    }
}
