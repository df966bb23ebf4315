import Foundation

/// The scenarios of operations and threads with Foundation.
enum FoundationOperations {
    static func thread() throws -> String {
        let seen = Handed<ThreadFacts>()
        let thread = Thread { seen.hand(.here) }
        thread.qualityOfService = .background
        thread.start()
        return try "\(seen.taken())"
    }

    static func promotedQueue() throws -> String {
        let seen = Handed<ThreadFacts>()
        let queue = OperationQueue()
        queue.qualityOfService = .utility
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let low = BlockOperation { seen.hand(.here) }
        low.qualityOfService = .utility
        let high = BlockOperation {}
        high.qualityOfService = .userInitiated
        queue.addOperation(low)
        queue.addOperation(high)
        let (ofQueue, ofLow) = (queue.qualityOfService, low.qualityOfService)
        queue.isSuspended = false
        return try "\(name(ofQueue)); \(name(ofLow)), \(seen.taken())"
    }

    static func raisedDependency() throws -> String {
        let seen = Handed<ThreadFacts>()
        let queue = OperationQueue()
        queue.isSuspended = true
        let low = BlockOperation { seen.hand(.here) }
        low.qualityOfService = .background
        let high = BlockOperation {}
        high.qualityOfService = .userInitiated
        high.addDependency(low)
        queue.addOperations([low, high], waitUntilFinished: false)
        let ofLow = low.qualityOfService
        queue.isSuspended = false
        return try "\(name(ofLow)), \(seen.taken())"
    }

    static func cycle() -> String {
        let (first, second) = (BlockOperation {}, BlockOperation {})
        first.addDependency(second)
        second.addDependency(first)
        let areReady = first.isReady || second.isReady
        // Else they keep one another.
        first.removeDependency(second)
        return areReady ? "accepted; one of them is ready" : "accepted; neither is ready, ever"
    }

    private static func name(_ quality: QualityOfService) -> String {
        switch quality {
        case .userInteractive: "userInteractive"
        case .userInitiated: "userInitiated"
        case .default: "default"
        case .utility: "utility"
        case .background: "background"
        @unknown default: "unknown"
        }
    }
}
