package import QoSCore
import QoSKernel
import Synchronization

/// The destination of reports of waits (rule I5). Without a listener there are no reports.
///
/// Locks belong to the process and not to a scheduler, and so does this. Unused it costs one load on paths that are
/// about to sleep.
package enum InversionDetection {
    /// The identity of a listener, to take it back.
    package struct Token: Sendable, Hashable {
        fileprivate let number: UInt64
    }

    private struct Listeners {
        var lastNumber: UInt64 = 0
        var all: [UInt64: @Sendable (InversionReport) -> Void] = [:]
    }

    private static let listeners = Lock(Listeners())
    private static let count = Atomic(0)

    /// Whether there is a listener; one load.
    package static var isOn: Bool { count.load(ordering: .relaxed) > 0 }

    /// Adds a listener. Any thread.
    ///
    /// - Parameter listener: called on the thread that is about to wait, before the wait, with no lock held; short.
    package static func listen(_ listener: @escaping @Sendable (InversionReport) -> Void) -> Token {
        let number = listeners.withLock { listeners in
            listeners.lastNumber += 1
            listeners.all[listeners.lastNumber] = listener
            return listeners.lastNumber
        }
        count.add(1, ordering: .relaxed)
        return Token(number: number)
    }

    /// Removes a listener. A report that is on its way may still call it once more. Any thread, once for each token.
    package static func stop(_ token: Token) {
        let removed = listeners.withLock { $0.all.removeValue(forKey: token.number) }
        if removed != nil { count.subtract(1, ordering: .relaxed) }
    }

    /// Reports that the calling thread is about to sleep until work of another thread ends, if the calling thread is a
    /// pool's.
    ///
    /// - Parameters:
    ///   - resource: the name of the awaited work.
    ///   - holder: the owner of that work, and the level at which it runs.
    ///   - remedy: a way to wait without taking a worker from its class.
    package static func reportSleep(for resource: String, holder: String, at level: QoSLevel?, remedy: String) {
        guard isOn, Worker.current != nil else { return }
        report {
            InversionReport(
                kind: .blockedPoolThread,
                waiter: .init(name: LockParticipant.nameOfCaller, level: QoS.currentLevel),
                resource: resource, holder: .init(name: holder, level: level), since: .now, explanation: remedy)
        }
    }

    /// Records a report where other processes see it.
    private static func record(_ report: InversionReport) {
        guard let mapping = DiagnosticsMapping.process else { return }
        let kind: UInt16 =
            switch report.kind {
            case .unresolvedInversion: 1
            case .blockedPoolThread: 2
            case .deadlock: 3
            }
        mapping.write(
            DiagnosticsRecord(
                .inversion, from: report.holder.level?.qosClass, to: report.waiter.level?.qosClass, detail: kind,
                time: MonotonicClock.nanoseconds(),
                work: WorkID(rawValue: Worker.current.map { $0.group.work(of: $0).rawValue } ?? 0),
                // The names of tasks and threads would fill the table.
                payload: UInt64(DiagnosticsMapping.number(of: report.resource))))
    }

    /// Tells the listeners. The report is made only if there are any.
    static func report(_ make: () -> InversionReport) {
        guard isOn else { return }
        let report = make()
        record(report)
        for listener in listeners.withLock({ Array($0.all.values) }) { listener(report) }
    }
}
