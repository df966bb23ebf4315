/// The decision what an insertion does, before it does anything: unique keys, labels, dependencies, circles.
struct InsertionPlan {
    enum Kind {
        /// The unfinished item with the same key stays, and may be promoted.
        case existing(WorkloadItemID, isPromoted: Bool)
        /// A new item, perhaps in the place of another one.
        case new(replacing: WorkloadItemID?)
    }

    struct Step {
        let request: WorkloadRequest
        let id: WorkloadItemID
        let kind: Kind
        /// The unfinished parents. `true`: the item runs whatever becomes of this one.
        var parents: [WorkloadItemID: Bool] = [:]

        var isNew: Bool {
            if case .new = kind { true } else { false }
        }
    }

    private(set) var steps: [Step] = []

    /// Makes a plan.
    ///
    /// - Throws: ``WorkloadStoreError`` if one of the requests must be refused.
    init(_ requests: [WorkloadRequest], in table: WorkloadTable) throws(WorkloadStoreError) {
        var labels: [String: Int] = [:]
        var newKeys: Set<String> = []
        var nextID = table.lastID
        for (index, request) in requests.enumerated() {
            do { try request.schedule.validate() } catch { throw .schedule(error) }
            if let label = request.label, labels.updateValue(index, forKey: label) != nil {
                throw .duplicateLabel(label)
            }
            if let key = request.unique?.key, !newKeys.insert(key).inserted { throw .duplicateKey(key) }
            steps.append(Self.step(request, nextID: &nextID, table))
        }
        for index in steps.indices {
            guard case .new(let replaced) = steps[index].kind else { continue }
            for dependency in steps[index].request.dependencies {
                let parent = try Self.item(dependency, labels, steps)
                if case .item = dependency, !table.items.contains(parent) { throw .unknownItem(parent) }
                // An item does not wait for the one that it replaces, except for its end.
                if parent != replaced { steps[index].parents[parent] = steps[index].parents[parent] ?? false }
            }
        }
        if let cycle = cycle(in: table) { throw .cycle(cycle) }
    }

    private static func step(_ request: WorkloadRequest, nextID: inout Int64, _ table: WorkloadTable) -> Step {
        let existing = request.unique.flatMap { table.item(withKey: $0.key) }
        if let existing, let policy = request.unique?.onDuplicate, policy == .keep || policy == .promote {
            return Step(request: request, id: existing, kind: .existing(existing, isPromoted: policy == .promote))
        }
        nextID += 1
        let isReplaced = request.unique?.onDuplicate == .replace
        var step = Step(
            request: request, id: WorkloadItemID(rawValue: nextID), kind: .new(replacing: isReplaced ? existing : nil))
        if let existing, !isReplaced || table[existing].record.state == .running {
            step.parents[existing] = true
        }
        return step
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
    private func cycle(in table: WorkloadTable) -> [String]? {
        var new: [WorkloadItemID: Step] = [:]
        var successors: [WorkloadItemID: WorkloadItemID] = [:]
        for step in steps {
            guard case .new(let replaced) = step.kind else { continue }
            new[step.id] = step
            if let replaced { successors[replaced] = step.id }
        }
        let cycle = Self.cycle(from: new.keys.sorted()) { id in
            if let step = new[id] { return Array(step.parents.keys) }
            // The children of a replaced item wait for its successor.
            return table[id].parents.keys.map { successors[$0] ?? $0 }
        }
        return cycle?.map { id in
            new[id].map { $0.request.label ?? "\($0.request.name) (new)" }
                ?? table[id].record.displayName
        }
    }

    /// Returns a circle that can be reached from some items, each of which waits for the next; `nil` without one.
    ///
    /// - Complexity: O(n) for n items and dependencies that are reached; no recursion.
    static func cycle(
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
