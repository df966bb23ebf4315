/// The work beside the searches: a backup, a copy and an index of the whole corpus.
protocol BackgroundWork: Sendable {
    /// Brings everything to the state of the corpus, and waits for it.
    func settle() throws

    /// From here on a change of the corpus starts nothing.
    func hold() throws

    /// Starts the work on the changed corpus.
    func begin() throws

    /// Whether the work that was begun is done.
    ///
    /// - Throws: If a part of it failed.
    func isOver() throws -> Bool
}

/// No work.
struct NoWork: BackgroundWork {
    func settle() {}
    func hold() {}
    func begin() {}
    func isOver() -> Bool { false }
}
