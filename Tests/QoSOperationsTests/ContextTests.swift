import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import ServiceContextModule
import Testing

@Suite("The context of operations", .timeLimit(.minutes(5)))
struct ContextTests {
    /// An operation that tells in which activity its body stands, and the activity in which it was made.
    private func madeInActivity() -> (operation: QoSOperation<UInt64?>, activity: UInt64?) {
        QoS.performActivity(.userInitiated, reason: "making") {
            (QoSOperation { QoS.activity?.id }, QoS.activity?.id)
        }
    }

    private func addInActivity(_ operations: [QoSOperation<UInt64?>], to queue: QoSOperationQueue) throws {
        try QoS.performActivity(.background, reason: "adding") {
            for operation in operations { try queue.add(operation) }
        }
    }

    @Test("X1 X2 a body has the activity in which its operation was made, not that in which it was added or runs")
    func activity() async throws {
        try await withScheduler { scheduler in
            let made = madeInActivity()
            let plain = QoSOperation { QoS.activity?.id }
            try addInActivity([made.operation, plain], to: QoSOperationQueue(scheduler: scheduler))
            #expect(made.activity != nil)
            #expect(try await made.operation.value == made.activity)
            #expect(try await plain.value == nil)
        }
    }

    /// An operation whose body makes and awaits another one; both tell their activities.
    private func madeInScope(
        for queue: QoSOperationQueue
    ) -> (operation: QoSOperation<[UInt64?]>, activity: UInt64?) {
        QoS.withActivity("making") {
            let outer = QoSOperation<[UInt64?]> {
                let inner = QoSOperation { QoS.activity?.id }
                try queue.add(inner)
                return [QoS.activity?.id, try await inner.value]
            }
            return (outer, QoS.activity?.id)
        }
    }

    @Test("X1 X3 an operation keeps its activity after the scope has ended, and so does one made in its body")
    func afterScope() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let made = madeInScope(for: queue)
            #expect(made.activity != nil && !QoS.activities.contains { $0.id == made.activity })
            try queue.add(made.operation)
            #expect(try await made.operation.value == [made.activity, made.activity])
        }
    }

    private enum RequestKey: ServiceContextKey {
        typealias Value = Int
    }

    @Test("X1 X2 O8 conditions are asked with the level, the service context and the activity of their operation")
    func conditions() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let seen = Collected<(QoSLevel?, Int?, UInt64?)>()
            let condition = OperationCondition("looks") {
                seen.append((QoS.currentLevel, ServiceContext.current?[RequestKey.self], QoS.activity?.id))
            }
            var context = ServiceContext.topLevel
            context[RequestKey.self] = 7
            let (operation, activity) = ServiceContext.withValue(context) {
                QoS.performActivity(.userInitiated, reason: "making") {
                    (
                        QoSOperation(OperationOptions(level: .utility, conditions: [condition, condition])) { () },
                        QoS.activity?.id
                    )
                }
            }
            try addInBackground(operation, to: queue)
            while !operation.isFinished { await Task.yield() }
            #expect(seen.all.count == 2 && activity != nil)
            for one in seen.all { #expect(one == (.utility, 7, activity)) }
        }
    }

    private func addInBackground(_ operation: BaseOperation, to queue: QoSOperationQueue) throws {
        try QoS.performActivity(.background, reason: "adding") { try queue.add(operation) }
    }
}
