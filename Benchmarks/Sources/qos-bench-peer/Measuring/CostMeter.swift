import BenchCore
import CAllocationCounter
import CBenchShims

/// Measures what one operation costs: repeats batches of it for a while.
enum CostMeter {
    /// Runs a batch to warm up, then batches until the time is up, then one more in which allocations are counted.
    ///
    /// - Parameters:
    ///   - seconds: how long to repeat.
    ///   - operations: how many one batch has.
    ///   - batch: the operations, and nothing else that counts.
    /// - Returns: time, processor time, allocations and context switches.
    static func measure(seconds: Double, operations: Int, _ batch: () async -> Void) async -> RawFigures {
        await batch()
        let start = Usage()
        let deadline = start.time + UInt64(seconds * 1e9)
        var batches = 0
        repeat {
            await batch()
            batches += 1
        } while bench_now() < deadline
        let end = Usage()
        bench_allocation_count_start()
        await batch()
        let allocations = bench_allocation_count_stop()
        let count = Double(batches * operations)
        return RawFigures([
            "ns_per_op": Double(end.time - start.time) / count,
            "cpu_ns_per_op": Double(end.processorTime - start.processorTime) / count,
            "switches_per_1000_ops": Double(end.switches - start.switches) * 1000 / count,
            "allocations_per_op": Double(allocations) / Double(operations),
        ])
    }
}
