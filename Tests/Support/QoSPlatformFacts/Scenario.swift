import QoSRuntime

/// Something that is done on both sides.
struct Scenario {
    /// What is done.
    let name: String
    /// Does it with Dispatch or Foundation, and says what happened.
    let platform: () throws -> String
    /// Does it with ours.
    let ours: () throws -> String

    /// What each side did, as a row of a table.
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
                name: "B5, B6: an item without a level, submitted by utility, on a queue without one",
                platform: DispatchQueues.inferred, ours: queues.inferred),
            Scenario(
                name: "B5: a background item on a queue without a level",
                platform: DispatchQueues.itemLevel, ours: queues.itemLevel),
            Scenario(
                name: "B8: a userInitiated item that enforces it, on a background queue",
                platform: DispatchQueues.enforced, ours: queues.enforced),
            Scenario(
                name: "I3, B15: a userInitiated item behind two background ones: the running one; the waiting one",
                platform: DispatchQueues.highBehindLow, ours: queues.highBehindLow),
            Scenario(
                name: "I1: `sync` onto the own serial queue",
                platform: DispatchQueues.syncOntoItself, ours: queues.syncOntoItself),
            Scenario(
                name: "T1: a background thread",
                platform: FoundationOperations.thread, ours: queues.thread),
            Scenario(
                name: "Q2: a userInitiated operation is added to a utility queue: the queue; what was in it",
                platform: FoundationOperations.promotedQueue, ours: operations.promotedQueue),
            Scenario(
                name: "O5: a userInitiated operation depends on a background one: that one",
                platform: FoundationOperations.raisedDependency, ours: operations.raisedDependency),
            Scenario(
                name: "O10: two operations depend on one another",
                platform: FoundationOperations.cycle, ours: operations.cycle),
        ]
    }
}
