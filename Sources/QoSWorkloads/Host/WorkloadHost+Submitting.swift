public import QoSCore

extension WorkloadRequest {
    /// Makes a request for an item of a workload.
    ///
    /// - Throws: the error of the parameters' encoding.
    public init<Work: Workload>(
        for workload: Work.Type, _ parameters: Work.Parameters, level: QoSLevel = .background,
        schedule: WorkloadSchedule = .now, catchUp: CatchUpPolicy = .runOnce, retry: RetryPolicy = RetryPolicy(),
        dependencies: [Dependency] = [], onFailedParent: FailedParentPolicy = .cancel,
        conditions: Set<WorkloadCondition> = [], unique: UniqueKey? = nil, concurrency: ConcurrencyKey? = nil,
        label: String? = nil
    ) throws {
        self.init(
            Work.name, parameters: try WorkloadCoding.encode(parameters), level: level, schedule: schedule,
            catchUp: catchUp, retry: retry, dependencies: dependencies, onFailedParent: onFailedParent,
            conditions: conditions, unique: unique, concurrency: concurrency, label: label,
            version: Work.version)
    }
}

extension WorkloadHost {
    /// Inserts an item into the store. It need not run at this host.
    ///
    /// - Parameters:
    ///   - workload: the type of the workload.
    ///   - parameters: its input.
    ///   - level: the requested level.
    ///   - schedule: the times of its runs.
    ///   - conditions: the conditions that must hold. All of them.
    ///   - parents: the items that must end first. They are raised to the level (rule O5).
    ///   - unique: a key that at most one unfinished item has.
    ///   - concurrency: a limit for items with the same key.
    ///   - retry: the answer to failed attempts.
    ///   - catchUp: the answer to runs that fell into a downtime.
    /// - Returns: the item, or the existing one with the same unique key.
    /// - Throws: ``WorkloadStoreError``, the error of the parameters' encoding, and errors of the store.
    public func submit<Work: Workload>(
        _ workload: Work.Type, _ parameters: Work.Parameters, level: QoSLevel = .background,
        schedule: WorkloadSchedule = .now, when conditions: Set<WorkloadCondition> = [],
        after parents: [WorkloadItem] = [], unique: UniqueKey? = nil, concurrency: ConcurrencyKey? = nil,
        retry: RetryPolicy = RetryPolicy(), catchUp: CatchUpPolicy = .runOnce
    ) async throws -> WorkloadItem {
        let request = try WorkloadRequest(
            for: workload, parameters, level: level, schedule: schedule, catchUp: catchUp, retry: retry,
            dependencies: parents.map { .item($0.id) }, conditions: conditions, unique: unique,
            concurrency: concurrency)
        return try await submit([request])[0]
    }

    /// Inserts several items, which may depend on one another by their labels: all of them, or none.
    ///
    /// - Throws: ``WorkloadStoreError``, and errors of the store.
    public func submit(_ requests: [WorkloadRequest]) async throws -> [WorkloadItem] {
        try await store.insert(requests, at: clock.now).map { self[$0.item] }
    }

    /// Returns a handle for an item of the store.
    public subscript(id: WorkloadItemID) -> WorkloadItem { WorkloadItem(id: id, host: self) }

    /// Pauses a workload: no item of it starts, and running ones are asked to defer.
    public func pause(_ name: WorkloadName, because reason: String) async throws {
        try await store.setPaused(name, because: reason, at: clock.now)
        wakeSignal.wake()
    }

    /// Resumes a workload.
    public func resume(_ name: WorkloadName) async throws {
        try await store.setPaused(name, because: nil, at: clock.now)
        wakeSignal.wake()
    }
}
