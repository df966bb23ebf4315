import QoSRuntime

extension DoctorReport {
    /// A private part of the concurrency library: see `Docs/Inside/ConcurrencyLibrary.md`.
    struct LibraryPart: Encodable {
        let name: String
        /// Whether the running library has the part where the runtime looks for it.
        let isKnown: Bool
        /// What the part makes possible.
        let grants: String
    }

    /// The parts of the running library. The first scheduler of the process must have been made.
    static var library: [LibraryPart] {
        [
            LibraryPart(
                name: "job flags", isKnown: ConcurrencyRuntime.seesRunningTasks,
                grants: "promotion of running tasks, and of tasks that hold an asynchronous lock"),
            LibraryPart(
                name: "continuation jobs", isKnown: ConcurrencyRuntime.seesYieldedTasks,
                grants: "promotion of yielded tasks, and turns among tasks that yield"),
            LibraryPart(
                name: "actors", isKnown: ConcurrencyRuntime.seesWaitingActors,
                grants: "promotion of calls that wait for an actor without an executor of its own"),
            LibraryPart(
                name: "waiters", isKnown: ConcurrencyRuntime.seesWaiters,
                grants: "promotion by an await of tasks whose recorded priority was high from the start"),
            LibraryPart(
                name: "earlier waiters", isKnown: ConcurrencyRuntime.seesEarlierWaiters,
                grants: "the same for a task that several others await"),
            LibraryPart(
                name: "parents", isKnown: ConcurrencyRuntime.seesParents,
                grants: "promotion of the children of such tasks"),
        ]
    }
}
