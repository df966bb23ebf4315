import QoSCore

/// Stands in a higher pool, or further to the front, for an entry that waits in a lower one or behind: whichever is reached first runs
/// it (rules I1, I3).
// SAFETY: as the base class; the one further field never changes.
final class RaisedEntry: WorkEntry, @unchecked Sendable {
    private let original: WorkEntry

    init(_ original: WorkEntry) {
        self.original = original
        super.init(queue: original.queue, level: original.effective)
    }

    override func reached(inPoolOf rank: Int?) {
        original.reached(inPoolOf: rank)
    }
}
