import QoSCore

/// The background activities of one scheduler: their machines, bodies and runs.
///
/// Threading: under the lock of the ``ActivityDriver``.
struct ActivityTable: Sendable {
    typealias Body = @Sendable (BackgroundActivityContext) async throws -> BackgroundActivityOutcome

    struct Entry: Sendable {
        var machine: ActivityMachine
        let body: Body
        var run: ActivityRun?
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    /// The actions of a look, for after the lock.
    struct Actions {
        var begins: [(identifier: String, qosClass: QoSClass, run: ActivityRun, body: Body)] = []
        var events: [BackgroundActivityEvent] = []
        var alarm: (after: Int64, tolerance: Int64, time: Int64)?
    }

    var entries: [String: Entry] = [:]
    /// The time of the earliest timer, in nanoseconds of the continuous clock.
    var armed = Int64.max
    /// The reason of the end; `nil` before it.
    var ending: String?
    var waiters: [CheckedContinuation<Void, Never>] = []
}

extension ActivityTable {
    mutating func look(
        _ identifier: String, _ conditions: SystemConditions, _ decision: GovernorDecision, at now: ClockReading,
        _ actions: inout Actions
    ) {
        guard var entry = entries[identifier] else { return }
        // After the end, nothing may begin.
        let obstacle = ending ?? entry.machine.activity.obstacle(in: conditions, decision)
        let step = entry.machine.looked(at: now, obstacle: obstacle)
        if step.begins {
            let run = ActivityRun(of: identifier)
            entry.run = run
            actions.begins.append((identifier, entry.machine.activity.qosClass, run, entry.body))
            actions.events.append(.began(identifier))
        }
        if let reason = step.defers {
            entry.run?.askToDefer(because: reason)
            actions.events.append(.askedToDefer(identifier, reason: reason))
        }
        if let overrun = step.overrun {
            actions.events.append(.overran(identifier, overrun, after: .nanoseconds(entry.machine.runDuration)))
        }
        entries[identifier] = entry
        guard let next = step.next else { return }
        let time = now.continuous.addingReportingOverflow(next)
        if !time.overflow, time.partialValue < actions.alarm?.time ?? .max {
            actions.alarm = (next, step.tolerance, time.partialValue)
        }
    }

    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        guard !entries.values.contains(where: { $0.run != nil }) else { return [] }
        defer { waiters = [] }
        return waiters
    }
}
