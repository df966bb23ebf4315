import QoSCore
import QoSKernel
import Synchronization

/// What has to be done after the locks of the queues have been given back: nothing here happens under one.
struct QueueEffects {
    private var first: (entry: WorkEntry, rank: Int)?
    private var more: [(entry: WorkEntry, rank: Int)] = []

    /// Threads that wait and could run what has been submitted.
    private var helpers: [ThreadWait] = []

    /// What runs and was raised, or is not raised any more.
    private var changed: [WorkEntry] = []

    /// The ranks to which waiting entries were raised.
    private var moved: [Int] = []

    /// An entry has to go into a pool.
    mutating func submit(_ entry: WorkEntry, rank: Int) {
        if first == nil { first = (entry, rank) } else { more.append((entry, rank)) }
    }

    /// An entry that waits in a pool has to go into a higher one too, or further to the front; whoever comes first runs it.
    mutating func raise(_ entry: WorkEntry, rank: Int) {
        moved.append(rank)
        submit(RaisedEntry(entry), rank: rank)
    }

    /// The level of a running entry has changed.
    mutating func runningChanged(_ entry: WorkEntry) {
        changed.append(entry)
    }

    /// Threads that wait are to look again.
    mutating func wake(_ waits: [ThreadWait]) {
        if !waits.isEmpty { helpers.append(contentsOf: waits) }
    }

    /// Does it all. No lock may be held.
    consuming func perform(on group: PoolGroup) {
        for rank in moved { group.noteMoved(to: rank) }
        if let first { unsafe group.pools[first.rank].submit(first.entry.makeNode()) }
        for (entry, rank) in more { unsafe group.pools[rank].submit(entry.makeNode()) }
        for helper in helpers { helper.parker.unpark() }
        if !changed.isEmpty { Self.runningChanged(changed, group) }
    }

    /// The loop looks at workers; other threads are raised at once, and what a thread waits for that sleeps.
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
