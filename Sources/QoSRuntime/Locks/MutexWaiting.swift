import CQoSShims
import QoSCore
import QoSKernel
public import Synchronization

/// The word of a ``QoSMutex`` and the contended operations on it (`Docs/Inside/Protocols/locks.md`).
///
/// A free word is 0. A held one is the kernel's id of the holder's thread times two, plus 1 when a thread waits. The
/// uncontended operations are one compare-and-swap each. With the last bit set, the word changes only under the lock of
/// its line. So the holder cannot give the mutex back while a waiter enters the line.
@usableFromInline
enum MutexWaiting {
    /// The number of looks at a contended word before the thread sleeps. They take about as long as a sleep and a
    /// wake-up.
    private static let spins = 100

    private static let registry = LockRegistry.shared

    /// Returns the value that the calling thread writes into a word.
    @usableFromInline @inline(never)
    static func ownWord() -> UInt32 { cqos_own_id() << 1 }

    /// Gets the mutex after the compare-and-swap has failed, however long that takes.
    @usableFromInline @inline(never)
    static func lockForEver(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32, name: String?) {
        // No wait is refused, so no error is thrown.
        try? unsafe lock(word, own: own, name: name, refusesCycle: false)
    }

    /// Gets the mutex after the compare-and-swap has failed.
    ///
    /// - Parameter refusesCycle: whether to refuse a wait that could never end, at once or when that comes about later.
    ///   If not, another wait of the circle is given up; without one that can be, this one is reported and never ends.
    static func lock(
        _ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32, name: String?, refusesCycle: Bool
    ) throws(LockError) {
        if unsafe spin(word, own: own) { return }
        let waiter = LockWaiter(
            party: .thread(own >> 1), name: nil, level: QoS.waitingLevel,
            lockName: name.map { "mutex '\($0)'" } ?? "a mutex without a name")
        if unsafe registry.usesOuterTurn(own >> 1, for: resource(word), { waiter.reportEndlessLock(by: $0) }) { return }
        var reports = true
        // The turn of a call may be used by foreign code on its way to sleep. It is told of its wait once.
        while try unsafe !lock(word, own: own, waiter, refusesCycle: refusesCycle, reports: reports) { reports = false }
    }

    /// Waits in the line for one turn.
    ///
    /// - Returns: `false` when foreign code has used the turn.
    private static func lock(
        _ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32, _ waiter: LockWaiter, refusesCycle: Bool,
        reports: Bool
    ) throws(LockError) -> Bool {
        let level = LevelCode(waiter.level)
        let wait = unsafe LockWait(
            thread: own >> 1, for: resource(word), lockName: waiter.lockName, mayBeRefused: refusesCycle)
        registry.enters(wait)
        defer { registry.leaves(wait) }
        guard let (place, holder, begun) = unsafe enter(word, own: own, level: level, wait) else { return true }
        var effects = begun
        if effects.isRecorded, let circle = open(waiter, wait, at: place, &effects, refusesCycle: refusesCycle) {
            throw waiter.refusedLock(by: circle)
        }
        registry.follow(&effects)
        if reports { waiter.perform(effects, holder: holder) } else { effects.perform() }
        // The item that the thread runs may have been raised before the wait was known.
        let present = QoS.waitingLevel
        if LevelCode(present) > level { registry.raised(thread: own >> 1, to: present) }
        // A waiter for a lock of this task raises the thread that runs the task.
        let task = registry.beginExecution(by: own >> 1, at: max(level, LevelCode(present)))
        if reports, Worker.current != nil {
            waiter.report(
                .blockedPoolThread, holder: holder,
                "a thread of a pool sleeps in a lock: wait with AsyncMutex, or hold the lock for less long")
        }
        let circle = wait.isUsed ? nil : sleep(waiter, wait, at: place, refusesCycle: refusesCycle)
        if let task { registry.endExecution(of: task, by: own >> 1) }
        registry.settleCallingThread(own >> 1)
        if let circle { throw waiter.refusedLock(by: circle) }
        return !wait.isUsed
    }

    /// Sleeps until the mutex is handed over, or until the wait is given up for a circle that closed later.
    ///
    /// - Returns: the circle for which the wait was refused. It has then been taken back.
    private static func sleep(
        _ waiter: LockWaiter, _ wait: LockWait, at place: Int, refusesCycle: Bool
    ) -> LockRegistry.Cycle? {
        // Other threads may have passed over this one while it ran foreign code.
        while registry.fallsAsleep(waiter.party, for: wait.resource) {
            var performed = LockEffects()
            if let circle = open(waiter, wait, at: place, &performed, refusesCycle: refusesCycle) { return circle }
        }
        wait.parker.park()
        wait.isOver = true
        guard let circle = wait.refusal else { return nil }
        var withdrawal = LockEffects()
        let left = withdraw(waiter.party, at: place, from: wait.resource, &withdrawal)
        registry.follow(&withdrawal)
        withdrawal.perform()
        // The mutex may have been handed over just when the wait was given up.
        return left == nil ? nil : circle
    }

    /// Opens the circle that a wait closes, if there is one: refuses the wait, or gives up another.
    ///
    /// - Parameter effects: those of the wait, as far as they are still to be performed.
    /// - Returns: the circle for which the wait was refused. It has then been taken back.
    private static func open(
        _ waiter: LockWaiter, _ wait: LockWait, at place: Int, _ effects: inout LockEffects, refusesCycle: Bool
    ) -> LockRegistry.Cycle? {
        guard refusesCycle else {
            registry.openOthers(waiter.party) { circle in
                if !wait.isReported { waiter.reportEndlessLock(by: circle) }
                wait.isReported = true
            }
            return nil
        }
        var withdrawal = LockEffects()
        var isAwaited = false
        let refused = registry.refuse(waiter.party) { _ in
            guard let left = withdraw(waiter.party, at: place, from: wait.resource, &withdrawal) else { return false }
            isAwaited = left > 0
            return true
        }
        guard let refused else { return nil }
        wait.isOver = true
        registry.follow(&effects)
        effects.performRefused(isAwaited: isAwaited)
        registry.follow(&withdrawal)
        withdrawal.perform()
        return refused
    }

    /// Gives the mutex back after the compare-and-swap has failed. The highest of the waiting threads gets it.
    @usableFromInline @inline(never)
    static func unlock(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32) {
        let resource = unsafe resource(word)
        var effects = LockEffects()
        let next = registry.withSite(of: resource) { site -> LockWait? in
            guard var present = site.take(),
                let token = registry.handOver(
                    resource, from: .thread(own >> 1), &present, &effects,
                    newHolder: { (.thread(unsafe LockWait.at($0).takeUnretainedValue().thread), true, .none) })
            else {
                // The waiter has been refused.
                unsafe word.pointee.store(0, ordering: .releasing)
                return nil
            }
            let next = unsafe LockWait.at(token).takeRetainedValue()
            let isContended = present.line.count > 0
            // The registry need not know a holder without waiters.
            if isContended { site = present }
            unsafe word.pointee.store(next.thread << 1 | (isContended ? 1 : 0), ordering: .releasing)
            return next
        }
        next?.parker.unpark()
        registry.follow(&effects)
        effects.perform()
        registry.settleCallingThread(own >> 1)
    }

    private static func spin(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32) -> Bool {
        for _ in 0..<spins {
            let seen = unsafe word.pointee.load(ordering: .relaxed)
            if seen == 0,
                unsafe word.pointee.compareExchange(expected: 0, desired: own, ordering: .acquiring).exchanged
            {
                return true
            }
            // Waiting threads come first. A thread that already holds the mutex would spin in vain.
            if seen & 1 != 0 || seen == own { return false }
            cqos_spin_hint()
        }
        return false
    }

    /// Gets the mutex if it is free by now. Else enters the calling thread as a waiter.
    ///
    /// - Returns: the thread's place, the holder and the effects to perform; `nil` when the mutex was free.
    private static func enter(
        _ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32, level: LevelCode, _ wait: LockWait
    ) -> (place: Int, holder: LockParticipant, effects: LockEffects)? {
        let resource = unsafe resource(word)
        return registry.withSite(of: resource) { site in
            guard let owner = unsafe markContended(word, own: own) else { return nil }
            let holder = LockParticipant.thread(owner)
            var present = site.take() ?? LockQueue(holders: [holder])
            var effects = LockEffects()
            let token = unsafe UInt(bitPattern: Unmanaged.passRetained(wait).toOpaque())
            let place = registry.begin(
                .thread(own >> 1), at: level, for: resource, token: token, isAwake: true, &present, &effects)
            site = present
            return (place, holder, effects)
        }
    }

    /// Takes a wait back. The contended bit stays: the holder finds no waiter when it gives the mutex back.
    ///
    /// - Returns: the number of the other waiters; `nil` when the mutex has been handed over meanwhile.
    private static func withdraw(
        _ party: LockParticipant, at place: Int, from resource: LockResource, _ effects: inout LockEffects
    ) -> Int? {
        registry.withSite(of: resource) { site in
            guard registry.isWaiting(party), var present = site.take() else { return nil }
            unsafe LockWait.at(present.line.token(at: place)).release()
            registry.withdraw(party, at: place, from: resource, &present, &effects)
            let left = present.line.count
            site = left > 0 ? present : nil
            return left
        }
    }

    /// Sets the last bit, so that the mutex is given back under the lock of its line. Returns the holder; `nil` when
    /// the mutex was free and is now the caller's.
    private static func markContended(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32) -> UInt32? {
        var seen = unsafe word.pointee.load(ordering: .relaxed)
        while seen & 1 == 0 {
            let (exchanged, original) = unsafe word.pointee.compareExchange(
                expected: seen, desired: seen == 0 ? own : seen | 1, ordering: .acquiring)
            if exchanged { return seen == 0 ? nil : seen >> 1 }
            seen = original
        }
        return seen >> 1
    }

    private static func resource(_ word: UnsafeMutablePointer<Atomic<UInt32>>) -> LockResource {
        .mutex(UInt(bitPattern: word))
    }
}

extension LockWait {
    /// Returns the wait that a token stands for.
    fileprivate static func at(_ token: UInt) -> Unmanaged<LockWait> {
        // SAFETY: the token is the address of a wait that the line retains.
        unsafe .fromOpaque(UnsafeRawPointer(bitPattern: token).unsafelyUnwrapped)
    }
}
