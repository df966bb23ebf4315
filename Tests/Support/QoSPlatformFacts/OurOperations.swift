import QoSCore
import QoSOperations
import QoSRuntime

/// The scenarios of operations with ours.
struct OurOperations {
    let scheduler: QoSScheduler

    func promotedQueue() throws -> String {
        let seen = Handed<WorkFacts>()
        let queue = QoSOperationQueue(scheduler: scheduler, level: .utility, maxConcurrent: .one, isSuspended: true)
        queue.addOperation { seen.hand(.here) }
        queue.addOperation(level: .userInitiated) {}
        let ofQueue = queue.effectiveLevel
        try queue.resume()
        return try "\(ofQueue.name); \(seen.taken())"
    }

    func raisedDependency() throws -> String {
        let seen = Handed<WorkFacts>()
        let queue = QoSOperationQueue(scheduler: scheduler)
        let low = QoSOperation(level: .background) { seen.hand(.here) }
        let high = QoSOperation(level: .userInitiated) {}
        try high.addDependency(low)
        try queue.add([low, high])
        return try "\(seen.taken())"
    }

    func cycle() throws -> String {
        let (first, second) = (QoSOperation(name: "first") {}, QoSOperation(name: "second") {})
        try first.addDependency(second)
        do {
            try second.addDependency(first)
            return "accepted"
        } catch {
            return "throws: \(error)"
        }
    }
}
