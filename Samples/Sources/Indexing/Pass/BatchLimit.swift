/// The bounds of one step of a pass. The first bound that is reached ends the step.
public struct BatchLimit: Sendable, Hashable {
    /// The maximum number of documents in one transaction.
    public var documents: Int

    /// The maximum number of entries of the tree, or rows of the table, that one step compares.
    public var entries: Int

    /// The time after which a step begins no further work. It overruns by one document at most.
    public var duration: Duration

    /// Makes a limit; by default 100 documents, 500 entries or 50 ms.
    public init(documents: Int = 100, entries: Int = 500, duration: Duration = .milliseconds(50)) {
        self.documents = max(1, documents)
        self.entries = max(1, entries)
        self.duration = duration
    }
}
