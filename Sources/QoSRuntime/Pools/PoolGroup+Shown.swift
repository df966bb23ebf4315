import CQoSShims
import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// What the runtime shows to other processes beyond its counters and the workers' lines
// (`Docs/Inside/Protocols/diagnostics.md`). Only rare events come here. No job does.

extension PoolGroup {
    /// Shows the processors, and the width of each class. Any thread.
    func showWidths() {
        shown.set(DiagnosticsLayout.Slot.processors, UInt64(width))
        for rank in 0..<QoSClass.allCases.count {
            pools[rank].counters.noteWidth(pools[rank].width, limit: admission.widthLimit(rank: rank))
        }
    }

    /// Shows that the loop looks at the workers. The loop's thread.
    func showLook(at now: UInt64) {
        shown.set(DiagnosticsLayout.Slot.lookedAt, now)
        shown.mapping?.refreshClocks(at: now)
    }

    /// What the calling thread runs, for a record of what it does: the present or the last job of a worker, or the loop.
    /// For another thread its id.
    var callerAsPromoter: UInt64 {
        if let worker = Worker.current, worker.group.shown.mapping != nil {
            return worker.group.work(of: worker).rawValue
        }
        if shown.mapping != nil, loop.isOnLoopThread {
            return WorkID(slot: shown.number, rank: WorkID.loopRank, worker: 0, steps: 0).rawValue
        }
        return UInt64(cqos_own_id())
    }

    /// What the calling thread runs: the present job of a worker; for another thread its id.
    static var workOfCaller: WorkID {
        guard let worker = Worker.current, worker.group.shown.mapping != nil else {
            return WorkID(rawValue: UInt64(cqos_own_id()))
        }
        return worker.group.work(of: worker)
    }

    /// The identity of the job that a worker runs, or ran last; none in a scheduler that is not shown.
    func work(of worker: WorkerRef) -> WorkID {
        guard shown.mapping != nil else { return WorkID(rawValue: 0) }
        return WorkID(
            slot: shown.number, rank: worker.qosClass.rank, worker: worker.index, steps: worker.value.line.step)
    }

    // MARK: Records

    /// Records that waiting work was moved to a higher class. Any thread.
    func record(movedFrom from: QoSClass, to: QoSClass, _ reason: DiagnosticsRecord.Reason = .awaited) {
        record(
            .promotedWaiting, from: from, to: to, detail: reason.rawValue, work: WorkID(rawValue: 0),
            payload: callerAsPromoter)
    }

    /// Records that running work was promoted. Any thread, with no lock held.
    func record(_ promotion: Promotion, of worker: WorkerIdentity) {
        record(
            .promotedRunning, from: worker.qosClass, to: promotion.raisedTo, detail: promotion.reason.rawValue,
            work: promotion.work, payload: callerAsPromoter)
    }

    /// Records that a job is over its limit. The loop's thread.
    func record(stall duration: UInt64, isBlocked: Bool, of worker: WorkerRef) {
        record(
            isBlocked ? .stalledBlocked : .stalledComputing, from: worker.qosClass,
            detail: worker.value.line.labelNumber, work: work(of: worker), payload: duration)
    }

    /// Records a message or a breadcrumb of the calling code. Any thread.
    ///
    /// - Parameters:
    ///   - text: its number in the table of texts.
    ///   - activity: the number of the activity; 0 for none.
    static func record(_ kind: DiagnosticsRecord.Kind, text: UInt16, of activity: UInt64) {
        guard let mapping = DiagnosticsMapping.process else { return }
        let worker = Worker.current
        let record = DiagnosticsRecord(
            kind, from: worker?.qosClass, detail: text, time: MonotonicClock.nanoseconds(), work: workOfCaller,
            payload: activity)
        if let worker { write(record, of: worker, into: mapping) } else { mapping.write(record) }
    }

    private static func write(_ record: DiagnosticsRecord, of worker: WorkerRef, into mapping: DiagnosticsMapping) {
        let group = worker.group
        // The ring of a worker that is not shown would have no owner.
        guard group.shown.mapping != nil else { return mapping.write(record) }
        mapping.write(
            record, place: worker.value.ring,
            owner: WorkID(slot: group.shown.number, rank: worker.qosClass.rank, worker: worker.index, steps: 0))
    }

    private func record(
        _ kind: DiagnosticsRecord.Kind, from: QoSClass?, to: QoSClass? = nil, detail: UInt16, work: WorkID,
        payload: UInt64
    ) {
        guard let mapping = shown.mapping else { return }
        let record = DiagnosticsRecord(
            kind, from: from, to: to, detail: detail, time: MonotonicClock.nanoseconds(), work: work, payload: payload)
        if let worker = Worker.current {
            Self.write(record, of: worker, into: mapping)
        } else if loop.isOnLoopThread {
            mapping.write(
                record, place: loopRing,
                owner: WorkID(slot: shown.number, rank: WorkID.loopRank, worker: 0, steps: 0))
        } else {
            mapping.write(record)
        }
    }
}
