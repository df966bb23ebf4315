import QoSCore
import QoSKernel
import Synchronization

/// Actions for after the queues' locks are released. None of them happens under a lock.
struct QueueEffects {
    private var first: (entry: WorkEntry, rank: Int)?
    private var more: [(entry: WorkEntry, rank: Int)] = []

    /// The waiting threads that could run the submitted entries.
    private var helpers: [ThreadWait] = []

    /// The running entries whose raise began, changed or ended.
    private var changed: [WorkEntry] = []

    /// The ranks to which waiting entries were raised.
    private var moved: [Int] = []

    /// Notes an entry that goes into a pool.
    mutating func submit(_ entry: WorkEntry, rank: Int) {
        if first == nil { first = (entry, rank) } else { more.append((entry, rank)) }
    }

    /// Notes an entry that waits in a pool and also has to go into a higher one, or further to the front. Whichever
    /// place a worker reaches first runs the entry.
    mutating func raise(_ entry: WorkEntry, rank: Int) {
        moved.append(rank)
        submit(RaisedEntry(entry), rank: rank)
    }

    /// Notes that the level of a running entry has changed.
    mutating func runningChanged(_ entry: WorkEntry) {
        changed.append(entry)
    }

    /// Notes waiting threads that have to look again.
    mutating func wake(_ waits: [ThreadWait]) {
        if !waits.isEmpty { helpers.append(contentsOf: waits) }
    }

    /// Performs all effects. No lock may be held.
    consuming func perform(on group: PoolGroup) {
        for rank in moved { group.noteMoved(to: rank) }
        if let first { group.pools[first.rank].submit(first.entry.makeNode()) }
        for (entry, rank) in more { group.pools[rank].submit(entry.makeNode()) }
        for helper in helpers { helper.parker.unpark() }
        if !changed.isEmpty { Self.runningChanged(changed, group) }
    }

    /// Passes on the new levels of running entries. The loop looks at workers. Other threads are raised at once, and so
    /// are the targets of sleeping threads' waits.
    private static func runningChanged(_ entries: [WorkEntry], _ group: PoolGroup) {
        var needsLook = false
        for entry in entries {
            let thread = entry.runningThread
            if entry.plainRunner == 0 {
                needsLook = true
            } else if let refused = entry.adjustThread() {
                LockWaiter(
                    party: .callingThread, name: nil, level: entry.effective.level, lockName: entry.awaitedName
                ).report(.unresolvedInversion, holder: .thread(refused.thread), refused.failure)
            }
            if thread != 0, let level = entry.effective.level {
                LockRegistry.shared.raised(thread: thread, to: level)
            }
        }
        if needsLook { group.calls.noteItemsChanged() }
    }
}

/// A second place for a waiting entry, in a higher pool or further to the front. Whichever place a worker reaches first
/// runs the entry (rules I1, I3).
// SAFETY: as the base class; the one additional field never changes.
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
