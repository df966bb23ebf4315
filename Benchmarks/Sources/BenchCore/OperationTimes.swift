/// The times of batches of operations, phase by phase.
public struct OperationTimes: Sendable {
    private var make = 0.0
    private var run = 0.0
    private var release = 0.0
    private var operations = 0.0

    /// Resident memory that the first batch took, while it waited; bytes per operation.
    public var bytesPerOperation = 0.0

    /// No batch.
    public init() {}

    /// Adds a batch by the moments between its phases, monotonic nanoseconds.
    public mutating func add(count: Int, began: UInt64, added: UInt64, ran: UInt64, released: UInt64) {
        make += Double(added - began)
        run += Double(ran - added)
        release += Double(released - ran)
        operations += Double(count)
    }

    /// Nanoseconds per operation: making and adding, running, releasing, and all of it.
    public var figures: RawFigures {
        RawFigures([
            "add_ns_per_op": make / operations, "run_ns_per_op": run / operations,
            "release_ns_per_op": release / operations, "ns_per_op": (make + run + release) / operations,
            "bytes_per_op": bytesPerOperation,
        ])
    }
}
