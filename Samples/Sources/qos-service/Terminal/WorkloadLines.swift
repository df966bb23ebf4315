internal import QoSWorkloads

/// The lines of all workloads that matter in the terminal, with the rates of their progress. A value.
struct WorkloadLines {
    /// The largest number of lines.
    private static let limit = 6

    private var rates: [WorkloadItemID: RateEstimate] = [:]
    private(set) var lines: [WorkloadLine] = []

    /// Takes a new state of the workloads: running ones first, then what waits, then the dead.
    mutating func observe(_ snapshot: WorkloadSnapshot, at time: ContinuousClock.Instant) {
        var seen: [WorkloadItemID: RateEstimate] = [:]
        let items = snapshot.items.filter { $0.record.state != .finished && $0.record.state != .cancelled }
        for item in items where item.record.state == .running {
            var rate = rates[item.id] ?? RateEstimate()
            if let progress = item.record.progress { rate.observe(progress.completed, at: time) }
            seen[item.id] = rate
        }
        rates = seen
        let order = items.enumerated().sorted {
            (Self.rank($0.element), $0.offset) < (Self.rank($1.element), $1.offset)
        }
        lines = order.prefix(Self.limit).map { _, item in
            WorkloadLine(item, rate: seen[item.id]?.perSecond ?? 0, pauses: snapshot.pauses)
        }
    }

    private static func rank(_ item: WorkloadSnapshot.Item) -> Int {
        switch item.record.state {
        case .running: 0
        case .ready: 1
        case .deferred, .blocked: 2
        case .dead: 3
        case .scheduled, .finished, .cancelled: 4
        }
    }
}
