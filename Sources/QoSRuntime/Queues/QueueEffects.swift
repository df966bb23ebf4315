import QoSCore
import QoSKernel
import Synchronization

/// What has to be done after the locks of the queues have been given back: nothing here happens under one.
struct QueueEffects {
    private var first: (entry: WorkEntry, rank: Int)?
    private var more: [(entry: WorkEntry, rank: Int)] = []

    /// Threads that wait and could run what has been submitted.
    private var helpers: [ThreadWait] = []

    /// Whether something that runs was raised, or is not raised any more.
    private var needsLook = false

    /// The ranks to which waiting entries were raised.
    private var moved: [Int] = []

    /// An entry has to go into a pool.
    mutating func submit(_ entry: WorkEntry, rank: Int) {
        if first == nil { first = (entry, rank) } else { more.append((entry, rank)) }
    }

    /// An entry that waits in a pool has to go into a higher one too; whoever comes first runs it.
    mutating func raise(_ entry: WorkEntry, rank: Int) {
        moved.append(rank)
        submit(RaisedEntry(entry), rank: rank)
    }

    /// The level of a running entry has changed.
    mutating func runningChanged() {
        needsLook = true
    }

    /// Threads that wait are to look again.
    mutating func wake(_ waits: [ThreadWait]) {
        if !waits.isEmpty { helpers.append(contentsOf: waits) }
    }

    /// Does it all. No lock may be held.
    consuming func perform(on core: SchedulerCore) {
        for rank in moved { core.noteMoved(to: rank) }
        if let first { unsafe core.pools[first.rank].submit(first.entry.makeNode()) }
        for (entry, rank) in more { unsafe core.pools[rank].submit(entry.makeNode()) }
        for helper in helpers { helper.parker.unpark() }
        if needsLook { core.noteItemsChanged() }
    }
}
