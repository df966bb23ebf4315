import BenchCore
import CAllocationCounter
import CBenchShims
import QoSCore
import QoSOperations
import QoSRuntime

/// B13: operations that do nothing, in a shape; from the first one's making to the last one's release.
struct OperationCost: Workload {
    let shape: OperationShape

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        guard let scheduler = stage.scheduler else { return RawFigures() }
        var (uncounted, times, bytes) = (OperationTimes(), OperationTimes(), 0.0)
        let resident = ThreadTable.residentBytes()
        try await batch(scheduler, &uncounted) {
            bytes = Double(ThreadTable.residentBytes() - resident) / Double(shape.count)
        }
        times.bytesPerOperation = bytes
        let deadline = bench_now() + UInt64(seconds * 1e9)
        repeat { try await batch(scheduler, &times) {} } while bench_now() < deadline
        bench_allocation_count_start()
        try await batch(scheduler, &uncounted) {}
        var figures = times.figures
        figures["allocations_per_op"] = Double(bench_allocation_count_stop()) / Double(shape.count)
        return figures
    }

    private func batch(_ scheduler: QoSScheduler, _ times: inout OperationTimes, whenAdded: () -> Void) async throws {
        let began = bench_now()
        let queue = QoSOperationQueue(scheduler: scheduler, level: .default, isSuspended: true)
        var operations: [QoSOperation<Void>] = []
        if case .independent(let count) = shape {
            for _ in 0..<count { queue.addOperation {} }
        } else {
            operations.reserveCapacity(shape.count)
            for number in 0..<shape.count {
                let operation = QoSOperation {}
                let parents = shape.parents(of: number)
                if let first = parents.0 { try operation.addDependency(operations[first]) }
                if let second = parents.1 { try operation.addDependency(operations[second]) }
                operations.append(operation)
            }
            try queue.add(operations)
        }
        let added = bench_now()
        whenAdded()
        let resumed = bench_now()
        try queue.resume()
        try await queue.waitUntilAllFinished()
        let ran = bench_now()
        operations = []
        let released = bench_now()
        times.add(count: shape.count, began: began + (resumed - added), added: resumed, ran: ran, released: released)
    }
}
