import QoSKernel
import Synchronization

extension QoS {
    /// Gives a piece of synchronous work a name that a report of a stalled job shows
    /// (``SchedulerEvent/jobStalled(worker:duration:label:_:)``).
    ///
    /// May be nested: the innermost counts. A few nanoseconds. Any thread; on a thread that is no scheduler's worker
    /// the body just runs.
    ///
    /// - Parameters:
    ///   - label: a literal of at least one character.
    ///   - body: the labelled work.
    public static func withLabel<Success, Failure: Error>(
        _ label: StaticString, _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        guard let worker = Worker.current, label.hasPointerRepresentation else { return try body() }
        let outer = worker.value.label.load(ordering: .relaxed)
        unsafe worker.value.label.store(UInt(bitPattern: label.utf8Start), ordering: .releasing)
        let shown = unsafe worker.value.line.label(DiagnosticsMapping.number(ofLiteral: label.utf8Start))
        defer {
            worker.value.label.store(outer, ordering: .releasing)
            worker.value.line.label(shown)
        }
        return try body()
    }
}
