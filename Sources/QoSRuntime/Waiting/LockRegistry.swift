import QoSCore
import QoSKernel
import Synchronization

/// Those who wait for a lock of ours, in the whole process, and those who hold what others wait for.
///
/// Entered by who is about to wait and by who gives back what others wait for; who finds a lock free never comes here. What is known
/// of one party stands in a shard with a lock of its own, and so does the line of a ``QoSMutex``; an ``AsyncGate`` has its line
/// itself (`Docs/Protocols/locks.md`).
///
/// Threading: any thread. Lock order: a site's lock, then a shard's. Nobody is woken, raised or reported under either.
final class LockRegistry: Sendable {
    static let shared = LockRegistry()

    typealias Cycle = WaitCycle<LockParty, LockResource>

    /// How many holders one behind the other a wait raises.
    static let depthLimit = 64

    /// What is known of one party.
    struct Entry {
        var record = WaitRecord()
        /// The level at which a task is known to run: that of the wait that ended with what it holds.
        var known = LevelCode.none
        /// A thread that is raised, or is about to be.
        var raise: ThreadRaise?
        /// What a thread waits for that sleeps until something ends that is no lock.
        var awaiting: ThreadAwaiting?
        /// The sleep of a thread that waits for a mutex.
        var sleeper: LockWait?

        var isIdle: Bool { record.isIdle && raise == nil && awaiting == nil && sleeper == nil }
    }

    struct Entries {
        fileprivate var all: [LockParty: Entry] = [:]
        fileprivate var lastWait: UInt64 = 0
    }

    /// The locks of the shards. They are apart, so that classes do not wait for one another.
    private let parties = (0..<LockRegistry.shardCount).map { _ in Shard(Entries()) }
    private let mutexes = (0..<LockRegistry.shardCount).map { _ in Shard([LockResource: WaitSite]()) }

    private static let shardCount = 64

    /// Held by who has found that a wait could be a part of a circle, until that is known.
    let deadlocks = Lock(())

    private final class Shard<Value>: Sendable {
        let value: Lock<Value>

        init(_ value: sending Value) {
            self.value = Lock(value)
        }
    }

    private static func place(of word: UInt) -> Int {
        Int(truncatingIfNeeded: (UInt64(word) &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }

    /// How many threads hold what others wait for at a level: while it is 0, no level is raised by it.
    static let demandedThreads = Atomic<Int>(0)

    /// The calling thread's level, raised to that of the highest who waits for a lock that it holds. One load while no thread is waited
    /// for.
    @inline(__always)
    static func raised(_ level: QoSLevel?) -> QoSLevel? {
        demandedThreads.load(ordering: .relaxed) == 0 ? level : shared.raised(level, of: .callingThread)
    }

    @inline(never)
    private func raised(_ level: QoSLevel?, of party: LockParty) -> QoSLevel? {
        QoSLevel.higher(level, entry(of: party)?.record.inherited.level)
    }

    // MARK: Under locks

    /// Looks at what is known of a party and changes that.
    @inline(__always)
    func with<Success>(_ party: LockParty, _ body: (inout Entry) -> Success) -> Success {
        withEntries(of: party) { entries in
            Self.change(party, &entries, body)
        }
    }

    /// The same, with a number for a wait that begins.
    @inline(__always)
    func withNewWait<Success>(of party: LockParty, _ body: (inout Entry, UInt64) -> Success) -> Success {
        withEntries(of: party) { entries in
            entries.lastWait += 1
            let id = entries.lastWait
            return Self.change(party, &entries) { body(&$0, id) }
        }
    }

    /// What is known of a party; `nil` for nothing.
    func entry(of party: LockParty) -> Entry? {
        withEntries(of: party) { $0.all[party] }
    }

    /// Runs a body under the lock of a mutex's line, or of an execution.
    func withSite<Success>(of resource: LockResource, _ body: (inout WaitSite?) -> Success) -> Success {
        let shard = mutexes[Self.place(of: resource.address >> 3)]
        return shard.value.withLock { sites in body(&sites[resource]) }
    }

    @inline(__always)
    private func withEntries<Success>(of party: LockParty, _ body: (inout Entries) -> Success) -> Success {
        parties[Self.place(of: party.word)].value.withLock { body(&$0) }
    }

    @inline(__always)
    private static func change<Success>(
        _ party: LockParty, _ entries: inout Entries, _ body: (inout Entry) -> Success
    ) -> Success {
        var entry = entries.all[party] ?? Entry()
        let success = body(&entry)
        entries.all[party] = entry.isIdle ? nil : entry
        // The memory of a crowd that is gone.
        if entries.all.isEmpty, entries.all.capacity > 64 { entries.all = [:] }
        return success
    }

    // MARK: Threads

    /// Takes back what was done for the calling thread and is no longer wanted: after it gave back a lock, or got one.
    func settleCallingThread(_ id: UInt32) {
        guard let raise = raise(ofThread: id) else { return }
        raise.settle()
        tidy(raise)
    }

    /// Forgets a thread that is not raised any more, unless somebody is about to look at it, who does this afterwards.
    ///
    /// It may have been forgotten already, and another object stand for the thread: that one stays, its raise is to be taken back.
    func tidy(_ raise: ThreadRaise) {
        with(.thread(raise.id)) { entry in
            guard entry.raise === raise, raise.targetClass == nil, raise.retireIfIdle() else { return }
            entry.raise = nil
        }
    }

    /// What raises a thread, made if there is none; it may be retired by the time it is used.
    func raiseOrNew(ofThread id: UInt32) -> ThreadRaise {
        with(.thread(id)) { entry in
            let raise = entry.raise ?? ThreadRaise(id: id)
            entry.raise = raise
            return raise
        }
    }

    /// Whether and how a thread is raised.
    func raise(ofThread id: UInt32) -> ThreadRaise? {
        entry(of: .thread(id))?.raise
    }

    /// The threads that are raised, or are about to be. For tests.
    var raises: [ThreadRaise] {
        parties.flatMap { shard in shard.value.withLock { $0.all.values.compactMap(\.raise) } }
    }

    /// Whether nobody waits and nobody is raised. For tests.
    var isEmpty: Bool {
        parties.allSatisfy { shard in shard.value.withLock { $0.all.isEmpty } }
            && mutexes.allSatisfy { shard in shard.value.withLock { $0.isEmpty } }
    }

    /// What a party waits for is called; `nil` where that is not known.
    func nameOfResource(awaitedBy party: LockParty) -> String? {
        let entry = entry(of: party)
        return entry?.awaiting?.awaited.awaitedName ?? entry?.sleeper?.lockName
    }
}

/// A thread that sleeps until it is handed a mutex.
final class LockWait: Sendable {
    let parker = Parker()

    /// The thread's id.
    let thread: UInt32

    /// What the lock is called.
    let lockName: String

    init(thread: UInt32, lockName: String) {
        self.thread = thread
        self.lockName = lockName
    }
}
