import QoSCore
import QoSKernel
import Synchronization

/// The waiters for the runtime's locks, in the whole process, and the awaited holders.
///
/// A thread enters it when it is about to wait, or gives back an awaited lock. A thread that finds a lock free never
/// comes here. Each party's record is in a shard with a lock of its own, and so is the line of a ``QoSMutex``. An
/// ``AsyncGate`` has its line itself (`Docs/Inside/Protocols/locks.md`).
///
/// Threading: any thread. Lock order: a site's lock, then a shard's. No thread is woken, raised or reported under
/// either.
final class LockRegistry: Sendable {
    static let shared = LockRegistry()

    typealias Cycle = WaitCycle<LockParticipant, LockResource>

    /// The number of holders, one behind the other, that a wait raises.
    static let depthLimit = 64

    /// The record of one party.
    struct Entry {
        var record = WaitRecord()
        /// The known level of a task: that at which it ran anyway when it was handed its lock.
        var known = LevelCode.none
        /// The raise of a thread that is raised, or is about to be.
        var raise: ThreadRaise?
        /// The wait of a thread that sleeps for a target that is no lock.
        var awaiting: ThreadTargetWait?
        /// The innermost call of a thread that waits for a mutex.
        var sleeper: LockWait?

        var isIdle: Bool { record.isIdle && raise == nil && awaiting == nil && sleeper == nil }
    }

    struct Entries {
        fileprivate var all: [LockParticipant: Entry] = [:]
        fileprivate var lastWait: UInt64 = 0
    }

    /// The locks of the shards. They are apart, so that classes do not wait for one another.
    private let parties = (0..<LockRegistry.shardCount).map { _ in Shard(Entries()) }
    private let mutexes = (0..<LockRegistry.shardCount).map { _ in Shard([LockResource: LockQueue]()) }

    private static let shardCount = 64

    /// Held by a thread that has found a possible circle, until the circle is confirmed or not.
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

    /// The shard of a party's record.
    static func place(of party: LockParticipant) -> Int { place(of: party.word) }

    /// The shard of the line of a mutex, or of an execution.
    static func place(of resource: LockResource) -> Int { place(of: resource.address >> 3) }

    /// The number of threads whose locks others await at a level. While it is 0, no waiter raises a level.
    static let demandedThreads = Atomic<Int>(0)

    /// Returns the calling thread's level, raised to that of its highest waiter for a lock. One load while no thread is
    /// awaited.
    @inline(__always)
    static func raised(_ level: QoSLevel?) -> QoSLevel? {
        demandedThreads.load(ordering: .relaxed) == 0 ? level : shared.raised(level, of: .callingThread)
    }

    @inline(never)
    private func raised(_ level: QoSLevel?, of party: LockParticipant) -> QoSLevel? {
        QoSLevel.higher(level, entry(of: party)?.record.inherited.level)
    }

    // MARK: Under locks

    /// Reads or changes the record of a party.
    @inline(__always)
    func with<Success>(_ party: LockParticipant, _ body: (inout Entry) -> Success) -> Success {
        withEntries(of: party) { entries in
            Self.change(party, &entries, body)
        }
    }

    /// Does the same, with a number for a wait that begins.
    @inline(__always)
    func withNewWait<Success>(of party: LockParticipant, _ body: (inout Entry, UInt64) -> Success) -> Success {
        withEntries(of: party) { entries in
            entries.lastWait += 1
            let id = entries.lastWait
            return Self.change(party, &entries) { body(&$0, id) }
        }
    }

    /// Returns the record of a party; `nil` without one.
    func entry(of party: LockParticipant) -> Entry? {
        withEntries(of: party) { $0.all[party] }
    }

    /// Runs a body under the lock of a mutex's line, or of an execution.
    func withSite<Success>(of resource: LockResource, _ body: (inout LockQueue?) -> Success) -> Success {
        let shard = mutexes[Self.place(of: resource)]
        return shard.value.withLock { sites in body(&sites[resource]) }
    }

    @inline(__always)
    private func withEntries<Success>(of party: LockParticipant, _ body: (inout Entries) -> Success) -> Success {
        parties[Self.place(of: party)].value.withLock { body(&$0) }
    }

    @inline(__always)
    private static func change<Success>(
        _ party: LockParticipant, _ entries: inout Entries, _ body: (inout Entry) -> Success
    ) -> Success {
        var entry = entries.all[party] ?? Entry()
        let success = body(&entry)
        entries.all[party] = entry.isIdle ? nil : entry
        // Frees the memory of a crowd that is gone.
        if entries.all.isEmpty, entries.all.capacity > 64 { entries.all = [:] }
        return success
    }

    // MARK: Threads

    /// Takes back raises of the calling thread that are no longer demanded, after it gave back a lock, or got one.
    func settleCallingThread(_ id: UInt32) {
        guard let raise = raise(ofThread: id) else { return }
        raise.settle()
        tidy(raise)
    }

    /// Removes a thread that is not raised any more. If another thread is about to look at it, the other thread does
    /// this afterwards.
    ///
    /// The registry may have removed it already, and another object may stand for the thread. That object stays: its
    /// raise is still to be taken back.
    func tidy(_ raise: ThreadRaise) {
        with(.thread(raise.id)) { entry in
            guard entry.raise === raise, raise.targetClass == nil, raise.retireIfIdle() else { return }
            entry.raise = nil
        }
    }

    /// Returns the raise of a thread, and makes it if there is none. It may be retired before its use.
    func raiseOrNew(ofThread id: UInt32) -> ThreadRaise {
        with(.thread(id)) { entry in
            let raise = entry.raise ?? ThreadRaise(id: id)
            entry.raise = raise
            return raise
        }
    }

    /// Returns the raise of a thread; `nil` without one.
    func raise(ofThread id: UInt32) -> ThreadRaise? {
        entry(of: .thread(id))?.raise
    }

    /// The threads that are raised, or are about to be. For tests.
    var raises: [ThreadRaise] {
        parties.flatMap { shard in shard.value.withLock { $0.all.values.compactMap(\.raise) } }
    }

    /// The records of parties and the lines of mutexes; empty if no thread waits and none is raised. For tests.
    var contents: [String] {
        parties.flatMap { shard in shard.value.withLock { $0.all.map { "\($0.key): \($0.value)" } } }
            + mutexes.flatMap { shard in shard.value.withLock { $0.map { "\($0.key): \($0.value)" } } }
    }

    /// Returns the name of a party's awaited resource; `nil` if it is not known.
    func nameOfResource(awaitedBy party: LockParticipant) -> String? {
        let entry = entry(of: party)
        if let awaiting = entry?.awaiting { return awaiting.awaited.awaitedName }
        let resource = entry?.record.wait?.resource
        return entry?.sleeper?.first { $0.resource == resource }?.lockName
    }
}
