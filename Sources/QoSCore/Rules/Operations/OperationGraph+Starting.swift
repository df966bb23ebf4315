extension OperationGraph {
    /// Notes that all dependencies of an operation have finished.
    mutating func dependenciesMet(_ operation: UInt32, _ effects: inout OperationEffects) {
        guard operations[Int(operation)].hasConditions else { return becomeReady(operation) }
        operations[Int(operation)].state = .evaluating
        effects.conditionsDue.append(OperationID(index: operation))
    }

    /// Notes that the conditions of an operation are met. An operation with failed conditions is reported as finished.
    package mutating func conditionsMet(_ id: OperationID, _ effects: inout OperationEffects) {
        guard operations[Int(id.index)].state == .evaluating else { return }
        becomeReady(id.index)
        startReady(&effects)
    }

    private mutating func becomeReady(_ operation: UInt32) {
        let record = operations[Int(operation)]
        let entry = SequenceQueue.Entry(sequence: record.sequence, operation: operation)
        let place = Int(record.queue)
        guard record.segment == queues[place].firstSegment else {
            operations[Int(operation)].state = .held
            queues[place].hold(entry, segment: record.segment)
            return
        }
        enterReady(entry, place)
    }

    private mutating func enterReady(_ entry: SequenceQueue.Entry, _ place: Int) {
        operations[Int(entry.operation)].state = .ready
        let record = operations[Int(entry.operation)]
        let bucket = queues[place].bucket(record.level)
        queues[place].buckets[bucket].ready.enter(.init(sequence: record.turn, operation: entry.operation))
        unrest(UInt32(place))
    }

    /// Lets in the operations behind a barrier, or the barrier, when all before it are done.
    mutating func advanceSegments(_ place: Int) {
        guard queues[place].isDivided else { return }
        defer { if !queues[place].isDivided { dividedQueues -= 1 } }
        while let held = queues[place].nextSegment() {
            for entry in held
            where operations[Int(entry.operation)].sequence == entry.sequence
                && operations[Int(entry.operation)].state == .held
            {
                enterReady(entry, place)
            }
        }
    }

    /// Marks a queue, so that the event looks in it for operations that can start.
    mutating func unrest(_ queue: UInt32) {
        guard !queues[Int(queue)].isRestless else { return }
        queues[Int(queue)].isRestless = true
        restlessQueues.append(queue)
    }

    /// Whether more operations can start than one event starts.
    package var hasMoreToStart: Bool { !restlessQueues.isEmpty }

    /// Starts more operations, after the driver has handled those of the last event.
    package mutating func startedSome(_ effects: inout OperationEffects) {
        startReady(&effects)
    }

    /// Starts all operations that can start: by level, and in the order of adding within a level.
    mutating func startReady(_ effects: inout OperationEffects) {
        while let queue = restlessQueues.popLast() {
            let place = Int(queue)
            queues[place].isRestless = false
            guard !queues[place].isSuspended, queues[place].comingLists == 0 else { continue }
            var bucket = queues[place].buckets.count - 1
            while bucket >= 0, queues[place].running < queues[place].limit {
                guard effects.started.count < startsAtOnce else { return unrest(queue) }
                guard let operation = popReady(place, bucket) else {
                    bucket -= 1
                    continue
                }
                operations[Int(operation)].state = .running
                queues[place].running += 1
                effects.started.append(OperationID(index: operation))
            }
        }
    }

    private mutating func popReady(_ place: Int, _ bucket: Int) -> UInt32? {
        guard queues[place].buckets[bucket].ready.live > 0 else { return nil }
        let level = queues[place].buckets[bucket].level
        while let entry = queues[place].buckets[bucket].ready.first {
            queues[place].buckets[bucket].ready.removeFirst()
            guard Self.isReady(entry, at: level, operations) else { continue }
            queues[place].buckets[bucket].ready.left { [operations] in
                // The one that is taken has not changed its state yet.
                $0.operation != entry.operation && Self.isReady($0, at: level, operations)
            }
            return entry.operation
        }
        return nil
    }
}
