import Synchronization

/// The work beside the searches: a backup, a copy and an index of the whole corpus.
protocol BackgroundWork: Sendable {
    /// Makes everything ready. From here on a change of the corpus starts nothing.
    func prepare() throws

    /// Starts the work on the changed corpus.
    func begin() throws

    /// Returns the parts of the work that are done.
    ///
    /// - Throws: If a part failed.
    func progress() throws -> WorkProgress

    /// Ends what still runs.
    func end()
}

extension BackgroundWork {
    func prepare() throws {}
    func end() {}
}

/// A part of the work.
enum WorkPart: String, CaseIterable {
    case backup
    case sync
    case indexing
}

/// The state of work that was begun.
struct WorkProgress {
    let done: Set<WorkPart>
    /// Whether all is done, and nothing runs any more.
    let isOver: Bool
}

/// No work.
struct NoWork: BackgroundWork {
    func begin() {}
    func progress() -> WorkProgress { WorkProgress(done: [], isOver: false) }
}

/// Busy loops that get a processor only while nobody else wants it.
final class IdleLoops: BackgroundWork {
    private let spinners = Mutex<Spinners?>(nil)

    func begin() throws {
        let started = try Spinners()
        spinners.withLock { $0 = started }
    }

    func progress() -> WorkProgress { WorkProgress(done: [], isOver: false) }

    func end() {
        spinners.withLock { spinners in
            spinners?.stop()
            spinners = nil
        }
    }
}
