import BenchCore
import CBenchShims
import Foundation

/// One measured process: operations on Foundation's OperationQueue. The arguments are those of `qos-bench-peer`.
@main
enum FoundationMain {
    static func main() {
        let words = CommandLine.arguments
        guard words.count >= 5, let caseName = CaseName(text: words[3]), let seconds = Double(words[4]),
            let shape = OperationShape(caseName)
        else {
            Output.note("usage: qos-bench-foundation foundation B13 CASE SECONDS")
            exit(64)
        }
        var (first, times, bytes) = (OperationTimes(), OperationTimes(), 0.0)
        let resident = residentBytes()
        batch(shape, &first) { bytes = Double(residentBytes() - resident) / Double(shape.count) }
        first.bytesPerOperation = bytes
        times.bytesPerOperation = bytes
        let deadline = bench_now() + UInt64(seconds * 1e9)
        // A quadratic case has taken long enough with its first batch.
        var figures = first.figures
        if (figures["ns_per_op"] ?? 0) * Double(shape.count) < seconds * 1e9 {
            repeat { batch(shape, &times) {} } while bench_now() < deadline
            figures = times.figures
        }
        Output.line(figures.json)
    }

    private static func batch(_ shape: OperationShape, _ times: inout OperationTimes, whenAdded: () -> Void) {
        let began = bench_now()
        let queue = OperationQueue()
        queue.isSuspended = true
        var operations: [Operation] = []
        if case .independent(let count) = shape {
            for _ in 0..<count { queue.addOperation {} }
        } else {
            operations.reserveCapacity(shape.count)
            for number in 0..<shape.count {
                let operation = BlockOperation {}
                let parents = shape.parents(of: number)
                if let first = parents.0 { operation.addDependency(operations[first]) }
                if let second = parents.1 { operation.addDependency(operations[second]) }
                operations.append(operation)
            }
            queue.addOperations(operations, waitUntilFinished: false)
        }
        let added = bench_now()
        whenAdded()
        let resumed = bench_now()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        let ran = bench_now()
        operations = []
        let released = bench_now()
        times.add(count: shape.count, began: began + (resumed - added), added: resumed, ran: ran, released: released)
    }

    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
