import Synchronization

// What a worker's job calls itself, for reports.

extension Worker {
    /// How the innermost named part of the running job is called: by ``QoS/withLabel(_:_:)``, or by the work queue whose item it is;
    /// `nil` for a job that says nothing. A task's own name cannot be read from another thread. The loop's thread.
    var jobLabel: String? {
        let address = label.load(ordering: .acquiring)
        if address != 0, let text = unsafe UnsafePointer<CChar>(bitPattern: address) {
            // SAFETY: only `QoS.withLabel` sets it, to a literal, which lives for ever and ends with a zero.
            return unsafe String(cString: text)
        }
        return items.innermostLabel
    }
}

extension QoS {
    /// Gives a piece of synchronous work a name that a report of a stalled job shows
    /// (``SchedulerEvent/jobStalled(worker:nanoseconds:label:_:)``).
    ///
    /// May be nested: the innermost counts. A few nanoseconds; any thread, on one that is no scheduler's worker the body just runs.
    ///
    /// - Parameters:
    ///   - label: a literal of at least one character.
    ///   - body: the labelled work.
    public static func withLabel<Success, Failure: Error>(
        _ label: StaticString, _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        guard let worker = unsafe Worker.current, label.hasPointerRepresentation else { return try body() }
        let outer = unsafe worker.pointee.label.load(ordering: .relaxed)
        unsafe worker.pointee.label.store(UInt(bitPattern: label.utf8Start), ordering: .releasing)
        defer { unsafe worker.pointee.label.store(outer, ordering: .releasing) }
        return try body()
    }
}
