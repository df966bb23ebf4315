/// The decision what an insertion does, before it does anything: unique keys, labels, dependencies, circles.
package struct InsertionPlan {
    /// The items of a store, as far as a plan looks at them.
    package protocol Source {
        /// The number of the last item that was inserted.
        var lastID: Int64 { get }
        /// Returns whether the store has an item.
        func contains(_ id: WorkloadItemID) -> Bool
        /// Returns the unfinished item with a unique key.
        func item(withKey key: String) -> WorkloadItemID?
        /// Returns whether an item that the store has is running.
        func isRunning(_ id: WorkloadItemID) -> Bool
        /// Returns the name of an item that the store has.
        func displayName(of id: WorkloadItemID) -> String
        /// Returns the unfinished parents of an item that the store has.
        func parents(of id: WorkloadItemID) -> [WorkloadItemID]
        /// Returns the name of the workload of an item that the store has.
        func workload(of id: WorkloadItemID) -> WorkloadName
        /// Returns the unique key of an item that the store has.
        func uniqueKey(of id: WorkloadItemID) -> String?
    }

    package enum Kind {
        /// The unfinished item with the same key stays, and may be promoted.
        case existing(WorkloadItemID, isPromoted: Bool)
        /// The unfinished item with the same key takes over the request.
        case updated(WorkloadItemID)
        /// A new item, perhaps in the place of another one.
        case new(replacing: WorkloadItemID?)
    }

    package struct Step {
        package let request: WorkloadRequest
        package let id: WorkloadItemID
        package let kind: Kind
        /// The unfinished parents. `true`: the item runs whatever becomes of this one.
        package var parents: [WorkloadItemID: Bool] = [:]

        package var isNew: Bool {
            if case .new = kind { true } else { false }
        }
    }

    package private(set) var steps: [Step] = []

    /// Makes a plan.
    ///
    /// - Throws: ``WorkloadStoreError`` if one of the requests must be refused.
    package init(_ requests: [WorkloadRequest], in table: some Source) throws(WorkloadStoreError) {
        var labels: [String: Int] = [:]
        var newKeys: Set<String> = []
        var nextID = table.lastID
        for (index, request) in requests.enumerated() {
            do {
                try request.schedule.validate()
                for condition in request.conditions { try condition.validate() }
            } catch { throw .schedule(error) }
            if let label = request.label, labels.updateValue(index, forKey: label) != nil {
                throw .duplicateLabel(label)
            }
            if let key = request.unique?.key, !newKeys.insert(key).inserted { throw .duplicateKey(key) }
            steps.append(try Self.step(request, nextID: &nextID, table))
        }
        for index in steps.indices {
            guard case .new(let replaced) = steps[index].kind else { continue }
            for dependency in steps[index].request.dependencies {
                let parent = try Self.item(dependency, labels, steps)
                if case .item = dependency, !table.contains(parent) { throw .unknownItem(parent) }
                // An item does not wait for the one that it replaces, except for its end.
                if parent != replaced { steps[index].parents[parent] = steps[index].parents[parent] ?? false }
            }
        }
        if let cycle = cycle(in: table) { throw .cycle(cycle) }
    }

    private static func step(
        _ request: WorkloadRequest, nextID: inout Int64, _ table: some Source
    ) throws(WorkloadStoreError) -> Step {
        let existing = request.unique.flatMap { table.item(withKey: $0.key) }
        if let existing, let policy = request.unique?.onDuplicate, policy == .keep || policy == .promote {
            return Step(request: request, id: existing, kind: .existing(existing, isPromoted: policy == .promote))
        }
        if let existing, request.unique?.onDuplicate == .update {
            let name = table.workload(of: existing)
            guard name == request.name else { throw .otherWorkload(existing, name) }
            return Step(request: request, id: existing, kind: .updated(existing))
        }
        nextID += 1
        let isReplaced = request.unique?.onDuplicate == .replace
        var step = Step(
            request: request, id: WorkloadItemID(rawValue: nextID), kind: .new(replacing: isReplaced ? existing : nil))
        if let existing {
            if !isReplaced || table.isRunning(existing) {
                step.parents[existing] = true
            } else {
                // The replaced one may itself wait for the end of a running one.
                for parent in predecessors(of: existing, in: table) { step.parents[parent] = true }
            }
        }
        return step
    }

    /// The unfinished items with the same unique key that an item waits for, in order.
    package static func predecessors(of id: WorkloadItemID, in table: some Source) -> [WorkloadItemID] {
        guard let key = table.uniqueKey(of: id) else { return [] }
        return table.parents(of: id).filter { table.uniqueKey(of: $0) == key }.sorted()
    }

    private static func item(
        _ dependency: WorkloadRequest.Dependency, _ labels: [String: Int], _ steps: [Step]
    ) throws(WorkloadStoreError) -> WorkloadItemID {
        switch dependency {
        case .item(let id): return id
        case .label(let label):
            guard let index = labels[label] else { throw .unknownLabel(label) }
            return steps[index].id
        }
    }

    // MARK: Circles

    /// Returns the names of items that would wait for one another.
    private func cycle(in table: some Source) -> [String]? {
        var new: [WorkloadItemID: Step] = [:]
        var successors: [WorkloadItemID: WorkloadItemID] = [:]
        for step in steps {
            guard case .new(let replaced) = step.kind else { continue }
            new[step.id] = step
            if let replaced { successors[replaced] = step.id }
        }
        let cycle = Self.cycle(from: new.keys.sorted()) { id in
            if let step = new[id] { return Array(step.parents.keys) }
            // Nothing stored waits for a new item, unless that replaces an item: the children wait for the successor.
            guard !successors.isEmpty else { return [] }
            return table.parents(of: id).map { successors[$0] ?? $0 }
        }
        return cycle?.map { id in
            new[id].map { $0.request.label ?? "\($0.request.name) (new)" }
                ?? table.displayName(of: id)
        }
    }

    /// Returns a circle that can be reached from some items, each of which waits for the next; `nil` without one.
    ///
    /// - Complexity: O(n) for n items and dependencies that are reached; no recursion.
    package static func cycle(
        from starts: [WorkloadItemID], parents: (WorkloadItemID) -> [WorkloadItemID]
    ) -> [WorkloadItemID]? {
        var done: Set<WorkloadItemID> = []
        for start in starts where !done.contains(start) {
            var way = [start]
            var open = [parents(start)[...]]
            var onWay: Set = [start]
            while let id = way.last {
                guard let next = open[open.count - 1].popFirst() else {
                    done.insert(id)
                    onWay.remove(id)
                    way.removeLast()
                    open.removeLast()
                    continue
                }
                if onWay.contains(next) { return Array(way.drop { $0 != next }) }
                guard !done.contains(next) else { continue }
                way.append(next)
                onWay.insert(next)
                open.append(parents(next)[...])
            }
        }
        return nil
    }
}

extension WorkloadTable: InsertionPlan.Source {
    package func contains(_ id: WorkloadItemID) -> Bool { items.contains(id) }
    package func isRunning(_ id: WorkloadItemID) -> Bool { self[id].record.state == .running }
    package func displayName(of id: WorkloadItemID) -> String { self[id].record.displayName }
    package func parents(of id: WorkloadItemID) -> [WorkloadItemID] { Array(self[id].parents.keys) }
    package func workload(of id: WorkloadItemID) -> WorkloadName { self[id].record.request.name }
    package func uniqueKey(of id: WorkloadItemID) -> String? { self[id].record.request.unique?.key }
}
