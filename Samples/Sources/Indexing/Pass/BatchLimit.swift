/// How much one step of a pass does before it returns; whichever bound is reached first ends it.
public struct BatchLimit: Sendable, Hashable {
    /// Documents that one transaction writes at most.
    public var documents: Int

    /// Entries of the tree, or rows of the table, that one step compares at most.
    public var entries: Int

    /// The time after which a step takes up nothing more; it overruns by one document at most.
    public var duration: Duration

    /// A limit; by default 100 documents, 500 entries or 50 ms.
    public init(documents: Int = 100, entries: Int = 500, duration: Duration = .milliseconds(50)) {
        self.documents = max(1, documents)
        self.entries = max(1, entries)
        self.duration = duration
    }
}
