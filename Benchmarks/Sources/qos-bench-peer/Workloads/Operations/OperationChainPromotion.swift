import BenchCore
import CBenchShims
import QoSCore
import QoSOperations
import QoSRuntime

/// B5, a dependency chain: the last operation of a chain that waits is raised, and with it everything that it depends
/// on; the time per operation.
struct OperationChainPromotion: Workload {
    let length: Int

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        guard let scheduler = stage.scheduler else { return RawFigures() }
        var (spent, promoted) = (0.0, 0)
        let deadline = bench_now() + UInt64(seconds * 1e9)
        repeat {
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            var operations: [QoSOperation<Void>] = []
            for number in 0..<length {
                let operation = QoSOperation(level: .background) {}
                if number > 0 { try operation.addDependency(operations[number - 1]) }
                operations.append(operation)
            }
            try queue.add(Array(operations.dropLast()))
            let last = operations[length - 1]
            let start = bench_now()
            last.level = .userInitiated
            spent += Double(bench_now() - start)
            guard operations.allSatisfy({ $0.effectiveLevel == .userInitiated }) else { throw NotPromoted() }
            promoted += length
            try queue.add(last)
            try queue.resume()
            try await queue.waitUntilAllFinished()
        } while bench_now() < deadline
        return RawFigures(["ns_per_op": spent / Double(promoted)])
    }

    private struct NotPromoted: Error {}
}
