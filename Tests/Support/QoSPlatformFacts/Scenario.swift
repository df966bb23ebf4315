import QoSRuntime

/// Something that is done on both sides.
struct Scenario {
    /// The name of the scenario.
    let name: String
    /// Does it with Dispatch or Foundation, and says what happened.
    let platform: () throws -> String
    /// Does it with ours.
    let ours: () throws -> String

    init(_ name: String, _ platform: @escaping () throws -> String, _ ours: @escaping () throws -> String) {
        (self.name, self.platform, self.ours) = (name, platform, ours)
    }

    /// The results of both sides, as a row of a table.
    var row: String { "| \(name) | \(Self.told(platform)) | \(Self.told(ours)) |" }

    private static func told(_ body: () throws -> String) -> String {
        do {
            return try body()
        } catch {
            return "error: \(error)"
        }
    }

    /// All of them, in the order of the guide.
    static func all(on scheduler: QoSScheduler) -> [Scenario] {
        let (queues, operations) = (OurQueues(scheduler: scheduler), OurOperations(scheduler: scheduler))
        return [
            Scenario(
                "B5, B6: an item without a level, submitted by utility, on a queue without one",
                DispatchQueues.inferred, queues.inferred
            ),
            Scenario("B5: a background item on a queue without a level", DispatchQueues.itemLevel, queues.itemLevel),
            Scenario(
                "B8: a userInitiated item that enforces it, on a background queue",
                DispatchQueues.enforced, queues.enforced
            ),
            Scenario(
                "I3, B15: a userInitiated item behind two background ones: the running one; the waiting one",
                DispatchQueues.highBehindLow, queues.highBehindLow
            ),
            Scenario("I1: `sync` onto the own serial queue", DispatchQueues.syncOntoItself, queues.syncOntoItself),
            Scenario("T1: a background thread", FoundationOperations.thread, queues.thread),
            Scenario(
                "Q2: a userInitiated operation is added to a utility queue: the queue; what was in it",
                FoundationOperations.promotedQueue, operations.promotedQueue
            ),
            Scenario(
                "O5: a userInitiated operation depends on a background one: that one",
                FoundationOperations.raisedDependency, operations.raisedDependency
            ),
            Scenario("O10: two operations depend on one another", FoundationOperations.cycle, operations.cycle),
        ]
    }
}
