import CQoSShims
import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Circles that close while all their threads sleep", .timeLimit(.minutes(5)))
struct LateCircleTests {
    /// A thread that holds a queue's turn, and joins another thread that waits for something else.
    private struct Pair {
        let holder: QoSThread<Bool>
        let other: QoSThread<Bool>

        /// - Parameter wait: the other thread's wait. It must not end before the circle closes.
        init(holding queue: WorkQueue, _ wait: @escaping @Sendable () throws -> Void) throws {
            let ids = Collected<UInt32>()
            let other = QoSThread(name: "other") {
                ids.append(cqos_own_id())
                return Self.isRefused { try wait() }
            }
            self.other = other
            holder = QoSThread(name: "holder") {
                try queue.sync {
                    try other.start()
                    ids.append(cqos_own_id())
                    return Self.isRefused { _ = try other.join() }
                }
            }
            try holder.start()
            while ids.all.count(where: { LockRegistry.shared.entry(of: .thread($0))?.awaiting != nil }) < 2 {
                cqosPause()
            }
        }

        /// The number of refused waits.
        func refusals() async throws -> Int {
            // A thread that joined would look for the circle itself.
            let refused = try await [holder.value, other.value]
            return refused.count { $0 }
        }

        private static func isRefused(_ wait: () throws -> Void) -> Bool {
            do {
                try wait()
                return false
            } catch WorkQueueError.deadlock, QoSThreadError.deadlock {
                return true
            } catch {
                Issue.record(error)
                return false
            }
        }
    }

    @Test("I5 a queue is resumed, and its item comes to stand behind a thread that waits for the item's submitter")
    func resumed() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let paused = try scheduler.makeQueue("paused", .concurrent, target: queue)
            try paused.suspend()
            let pair = try Pair(holding: queue) { try paused.sync {} }
            try paused.resume()
            #expect(try await pair.refusals() == 1)
        }
    }

    @Test("I5 B14 an item joins an awaited group, behind a thread that waits for the waiter")
    func joined() async throws {
        try await withScheduler { scheduler in
            let (queue, group) = (scheduler.makeQueue("queue"), WorkGroup())
            group.enter()
            let pair = try Pair(holding: queue) { try group.blockUntilFinished() }
            queue.async(in: group) {}
            try group.leave()
            #expect(try await pair.refusals() == 1)
        }
    }
}
