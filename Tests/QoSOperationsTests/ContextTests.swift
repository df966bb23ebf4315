import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("The context of operations", .timeLimit(.minutes(10)))
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
}
