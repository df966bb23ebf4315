import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

/// Which of the operations that are ready starts first.
@Suite("The order in which operations start", .timeLimit(.minutes(5)))
struct OrderTests {
    private static let priorities = [-3, 0, -9, -1, 0]

    /// The reason for which all of them are raised at once.
    enum Raise: CaseIterable {
        case wait, blocking, queueLevel, higherOperation
    }

    private func operations(_ order: Collected<Int>, in qosClass: QoSClass = .background) -> [QoSOperation<Void>] {
        Self.priorities.map { priority in
            QoSOperation(level: QoSLevel(qosClass, relativePriority: RelativePriority(clamping: priority))) {
                order.append(priority)
            }
        }
    }

    @Test(
        "O9 Q2 Q3 operations that are raised together keep their relative priorities among themselves",
        arguments: Raise.allCases)
    func raised(raise: Raise) async throws {
        try await withScheduler { scheduler in
            let order = Collected<Int>()
            let queue = QoSOperationQueue(
                scheduler: scheduler, level: raise == .wait || raise == .blocking ? nil : .background,
                maxConcurrent: .one, isSuspended: true)
            let all = operations(order)
            for operation in all { try queue.add(operation) }
            func block() throws { try queue.blockUntilAllFinished() }
            switch raise {
            case .wait, .blocking:
                let waiting = Task(priority: .high) {
                    if raise == .blocking { try block() } else { try await queue.waitUntilAllFinished() }
                }
                while !all.allSatisfy({ $0.effectiveLevel == .userInitiated }) { await Task.yield() }
                try queue.resume()
                try await waiting.value
            case .queueLevel:
                queue.level = .userInitiated
                try queue.resume()
            case .higherOperation:
                queue.addOperation(level: .userInitiated) {}
                try queue.resume()
            }
            try await queue.waitUntilAllFinished()
            #expect(all.allSatisfy { $0.effectiveLevel == .userInitiated })
            #expect(order.all == Self.priorities.sorted(by: >))
        }
    }

    @Test(
        "O9 an operation that is waited for by itself goes before those that are not, whatever its relative priority was"
    )
    func waitedForAlone() async throws {
        try await withScheduler { scheduler in
            let order = Collected<Int>()
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one, isSuspended: true)
            let all = operations(order)
            try queue.add(all)
            let waiting = Task(priority: .high) { try await all[2].value }
            while all[2].effectiveLevel != .userInitiated { await Task.yield() }
            try queue.resume()
            try await waiting.value
            try await queue.waitUntilAllFinished()
            #expect(order.all == [-9, 0, 0, -1, -3])
        }
    }

    @Test("a list starts with its highest operation, wherever that stands in it", arguments: [5, 40, 64, 200, 1_000])
    func list(count: Int) async throws {
        try await withScheduler { scheduler in
            let order = Collected<Int>()
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            var list = (1..<count).map { number in QoSOperation(level: .utility) { order.append(number) } }
            list.append(QoSOperation(level: QoSLevel(.userInitiated)) { order.append(0) })
            try queue.add(list)
            try await queue.waitUntilAllFinished()
            #expect(order.all == Array(0..<count))
        }
    }

    @Test("O9 a wait that only watches raises neither an operation nor a queue")
    func watching() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let operation = queue.addOperation(level: .background) {}
            let begun = Tally()
            let waiting = Task(priority: .high) {
                async let one: Void = {
                    begun.add()
                    try await operation.waitUntilFinished(promotes: false)
                }()
                async let all: Void = {
                    begun.add()
                    try await queue.waitUntilAllFinished(promotes: false)
                }()
                _ = try await (one, all)
                return operation.effectiveLevel
            }
            while begun.value < 2 { await Task.yield() }
            try queue.resume()
            #expect(try await waiting.value == .background)
        }
    }
}
