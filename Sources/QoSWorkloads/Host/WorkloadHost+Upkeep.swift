internal import QoSCore
internal import QoSKernel

/// The times of a host's upkeep: work that is due from time to time while the host is awake. An idle host sleeps on.
///
/// A value; times are those of a monotonic clock.
struct Upkeep: Sendable {
    /// The time between two looks for items that others pass by.
    static let agingInterval: Duration = .seconds(60)
    /// The time between two removals of ended items.
    static let removalInterval: Duration = .seconds(3600)

    private var nextAging: Duration?
    private var nextRemoval: Duration?

    /// Whether a look for items that others pass by is due. The first one is due an interval after the start.
    mutating func isAgingDue(at now: Duration) -> Bool { Self.isDue(&nextAging, every: Self.agingInterval, at: now) }

    /// Whether a removal of ended items is due. The first one is due a minute after the start.
    mutating func isRemovalDue(at now: Duration) -> Bool {
        if nextRemoval == nil { nextRemoval = now + Self.agingInterval }
        return Self.isDue(&nextRemoval, every: Self.removalInterval, at: now)
    }

    private static func isDue(_ next: inout Duration?, every interval: Duration, at now: Duration) -> Bool {
        let time = next ?? now + interval
        next = time <= now ? now + interval : time
        return time <= now
    }
}

extension WorkloadHost {
    /// Does the upkeep that is due.
    func keepUp(_ upkeep: inout Upkeep) async throws {
        let (now, wall) = (clock.elapsed, clock.now)
        if upkeep.isAgingDue(at: now) {
            try await store.raiseOverdue(dueBefore: wall.advanced(by: .zero - configuration.agingLimit))
        }
        if upkeep.isRemovalDue(at: now), configuration.retention != nil || configuration.deadRetention != nil {
            scheduler.startWorkload(at: .background, name: "workload-retention") { await self.removeEnded(at: wall) }
        }
    }

    /// Removes the items that ended long ago.
    private func removeEnded(at now: WallTime) async {
        let limits: [(Duration?, Set<WorkloadState>)] = [
            (configuration.retention, [.finished, .cancelled]), (configuration.deadRetention, [.dead]),
        ]
        for case (let length?, let states) in limits {
            do {
                try await store.removeEnded(before: now.advanced(by: .zero - length), in: states)
            } catch {
                services.observe(.storeFailed("removal of ended items: \(error)"))
            }
        }
    }

    /// Tells of attempts that hold a place and show no sign of life: once, and again each time that this has lasted twice
    /// as long.
    ///
    /// - Returns: the time of the next such event.
    func tellOfHangs() -> Duration? {
        let now = clock.elapsed
        var next: Duration?
        for attempt in attempts {
            let (last, told, isOver) = attempt.state.withLock { ($0.lastSign, $0.toldSilence, $0.isOver) }
            // One whose lease is gone keeps its place for nothing.
            guard let limit = isOver ? configuration.cancelGrace : configuration.silenceLimit else { continue }
            let silence = now - last
            var due = max(limit, told * 2)
            if due <= silence {
                services.observe(.attemptHangs(attempt.lease, attempt.record.request.name, after: silence))
                attempt.state.withLock { $0.toldSilence = silence }
                due = silence * 2
            }
            next = min(next ?? last + due, last + due)
        }
        return next
    }
}
