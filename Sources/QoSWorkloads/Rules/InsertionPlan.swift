/// The decision what an insertion does, before it does anything: unique keys, labels, dependencies, circles.
struct InsertionPlan {
    enum Kind {
        /// The unfinished item with the same key stays, and may be promoted.
        case existing(WorkloadItemID, isPromoted: Bool)
        /// The unfinished item with the same key takes over the request.
        case updated(WorkloadItemID)
        /// A new item, perhaps in the place of another one.
        case new(replacing: WorkloadItemID?)
    }

    struct Step {
        let request: WorkloadRequest
        let id: WorkloadItemID
        let kind: Kind
        /// The unfinished parents. `true`: the item runs whatever becomes of this one.
        var parents: [WorkloadItemID: Bool] = [:]
    }

    private(set) var steps: [Step] = []
    /// The labels that other requests name.
    private let named: Set<String>

    /// Whether another request depends on this one.
    func isParent(_ step: Step) -> Bool { step.request.label.map { named.contains($0) } ?? false }

    /// Makes a plan.
    ///
    /// - Throws: ``WorkloadStoreError`` if one of the requests must be refused.
    init(_ requests: [WorkloadRequest], in rows: inout some WorkloadRows) throws {
        named = Set(
            requests.flatMap { $0.dependencies.compactMap { if case .label(let label) = $0 { label } else { nil } } })
        var labels: [String: Int] = [:]
        var newKeys: Set<String> = []
        var nextID = rows.rules.lastID
        for (index, request) in requests.enumerated() {
            do {
                try request.schedule.validate()
                for condition in request.conditions { try condition.validate() }
            } catch { throw WorkloadStoreError.schedule(error) }
            if let label = request.label, labels.updateValue(index, forKey: label) != nil {
                throw WorkloadStoreError.duplicateLabel(label)
            }
            if let key = request.unique?.key, !newKeys.insert(key).inserted {
                throw WorkloadStoreError.duplicateKey(key)
            }
            steps.append(try Self.step(request, nextID: &nextID, &rows))
        }
        for index in steps.indices {
            guard case .new(let replaced) = steps[index].kind else { continue }
            for dependency in steps[index].request.dependencies {
                let parent = try Self.item(dependency, labels, steps)
                if case .item = dependency, try rows.state(of: parent) == nil {
                    throw WorkloadStoreError.unknownItem(parent)
                }
                // An item does not wait for the one that it replaces, except for its end.
                if parent != replaced { steps[index].parents[parent] = steps[index].parents[parent] ?? false }
            }
        }
        if let cycle = try cycle(in: rows) { throw WorkloadStoreError.cycle(cycle) }
    }

    private static func step(
        _ request: WorkloadRequest, nextID: inout Int64, _ rows: inout some WorkloadRows
    ) throws -> Step {
        let existing = try request.unique.flatMap { try rows.item(withKey: $0.key) }
        if let existing, let policy = request.unique?.onDuplicate, policy == .keep || policy == .promote {
            return Step(request: request, id: existing, kind: .existing(existing, isPromoted: policy == .promote))
        }
        if let existing, request.unique?.onDuplicate == .update {
            let name = try rows.find(existing)?.record.request.name
            guard name == request.name else { throw WorkloadStoreError.otherWorkload(existing, name ?? "") }
            return Step(request: request, id: existing, kind: .updated(existing))
        }
        nextID += 1
        let isReplaced = request.unique?.onDuplicate == .replace
        var step = Step(
            request: request, id: WorkloadItemID(rawValue: nextID), kind: .new(replacing: isReplaced ? existing : nil))
        if let existing {
            if try !isReplaced || rows.state(of: existing) == .running {
                step.parents[existing] = true
            } else {
                // The replaced one may itself wait for the end of a running one.
                let key = request.unique?.key ?? ""
                for parent in try predecessors(of: existing, withKey: key, in: &rows) { step.parents[parent] = true }
            }
        }
        return step
    }

    /// The unfinished items with the same unique key that an item waits for, in order.
    static func predecessors(
        of id: WorkloadItemID, withKey key: String, in rows: inout some WorkloadRows
    ) throws -> [WorkloadItemID] {
        var found: [WorkloadItemID] = []
        for parent in try rows.parents(of: id) {
            if try rows.find(parent)?.record.request.unique?.key == key { found.append(parent) }
        }
        return found
    }

    private static func item(
        _ dependency: WorkloadRequest.Dependency, _ labels: [String: Int], _ steps: [Step]
    ) throws -> WorkloadItemID {
        switch dependency {
        case .item(let id): return id
        case .label(let label):
            guard let index = labels[label] else { throw WorkloadStoreError.unknownLabel(label) }
            return steps[index].id
        }
    }

    // MARK: Circles

    /// Returns the names of items that would wait for one another.
    private func cycle(in rows: some WorkloadRows) throws -> [String]? {
        // Nothing stored waits for a new item, unless that replaces an item.
        let mayHaveOne = steps.contains { step in
            guard case .new(let replaced) = step.kind else { return false }
            return replaced != nil || !step.parents.isEmpty
        }
        guard mayHaveOne else { return nil }
        var new: [WorkloadItemID: Step] = [:]
        var successors: [WorkloadItemID: WorkloadItemID] = [:]
        for step in steps {
            guard case .new(let replaced) = step.kind else { continue }
            new[step.id] = step
            if let replaced { successors[replaced] = step.id }
        }
        let cycle = try Self.cycle(from: new.keys.sorted()) { id in
            if let step = new[id] { return Array(step.parents.keys) }
            // The children of a replaced item wait for its successor.
            guard !successors.isEmpty else { return [] }
            return try rows.parents(of: id).map { successors[$0] ?? $0 }
        }
        return try cycle?.map { id in
            if let step = new[id] { return step.request.label ?? "\(step.request.name) (new)" }
            return try rows.displayName(of: id) ?? "\(id)"
        }
    }

    /// Returns a circle that can be reached from some items, each of which waits for the next; `nil` without one.
    ///
    /// - Complexity: O(n) for n items and dependencies that are reached; no recursion.
    static func cycle(
        from starts: [WorkloadItemID], parents: (WorkloadItemID) throws -> [WorkloadItemID]
    ) rethrows -> [WorkloadItemID]? {
        var done: Set<WorkloadItemID> = []
        for start in starts where !done.contains(start) {
            var way = [start]
            var open = [try parents(start)[...]]
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
                open.append(try parents(next)[...])
            }
        }
        return nil
    }
}
