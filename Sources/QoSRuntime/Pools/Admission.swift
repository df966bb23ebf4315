import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// Drives the admission of workers: tells ``PickMachine`` what happens, wakes whom it admits, and publishes who has to ask.
///
/// Workers take jobs without asking as long as their class is not in ``mustAsk``: one relaxed load for a job. The machine, and
/// its lock, is used only where a worker is about to be woken or to park, or has to ask.
///
/// A thread of a high class never waits for the lock, which a preempted thread of a low class may hold: it tries for a
/// moment, then leaves a note and acts as if it were admitted. Whoever holds the lock looks for notes when it takes it and
/// after it gave it back, so that none stays behind: a note is left before the lock is tried, and the notes are looked at
/// after the lock was given back.
///
/// Threading: any thread. `Docs/Protocols/admission.md` has the rules.
final class Admission: Sendable {
    /// The classes whose workers ask before they take their next job, as bits by rank.
    private let mustAskBits = Atomic<UInt8>(0)

    /// The classes whose starvation window is open, as bits by rank.
    private let windowBits = Atomic<UInt8>(0)

    /// The classes that stand aside for lower ones, as bits by rank.
    private let asideBits = Atomic<UInt8>(0)

    /// The classes whose window has been opened and not been told to the observer.
    private let openedBits = Atomic<UInt8>(0)

    private let machine: Lock<PickMachine>
    private let notes = Notes()

    /// When time alone changes something, monotonic nanoseconds; `Int64.max` for never.
    private let lookAgain = Atomic<Int64>(.max)

    /// For when the loop's timer is armed; `UInt64.max` when it is not.
    private let armed = Atomic<UInt64>(.max)

    /// All five classes in ``mustAskBits``.
    private static let everybody: UInt8 = 0b1_1111

    /// When the loop tries again to get the lock, nanoseconds; and how often before the high classes have to wait for it, too.
    private static let nextTry: Int64 = 500_000
    private static let patience = 40

    /// How often the loop has tried in vain to get the lock.
    private let failedTries = Atomic<Int>(0)

    /// The classes that do not wait for the lock.
    private static let lowestHurried = QoSClass.userInitiated.rank

    init(processors: Int, parameters: SchedulingParameters) {
        machine = Lock(PickMachine(cores: processors, parameters: parameters, at: Self.now))
    }

    /// When the loop has to call ``ticked()`` at the latest; `nil` when time alone changes nothing.
    var nextLook: UInt64? {
        let time = lookAgain.load(ordering: .relaxed)
        return time == .max ? nil : UInt64(max(0, time))
    }

    /// Whether a worker of the class has to ask before it takes its next job.
    @inline(__always)
    func mustAsk(rank: Int) -> Bool {
        mustAskBits.load(ordering: .relaxed) & (1 << UInt8(truncatingIfNeeded: rank)) != 0
    }

    /// The classes for which higher ones stand aside at this moment.
    var openWindows: QoSClassSet { QoSClassSet(rawValue: windowBits.load(ordering: .relaxed)) }

    /// Whether a class stands aside for a lower one at this moment.
    func standsAside(rank: Int) -> Bool {
        asideBits.load(ordering: .relaxed) & (1 << UInt8(truncatingIfNeeded: rank)) != 0
    }

    /// The classes whose window was opened since this was asked last.
    func takeOpenedWindows() -> QoSClassSet {
        guard openedBits.load(ordering: .relaxed) != 0 else { return [] }
        return QoSClassSet(rawValue: openedBits.exchange(0, ordering: .relaxed))
    }

    /// What admission has done so far.
    var counters: AdmissionCounters { machine.withLock { $0.counters } }

    /// Whether the loop's timer is armed for later than this.
    func isEarlierThanArmed(_ time: UInt64) -> Bool {
        time < armed.load(ordering: .sequentiallyConsistent)
    }

    /// The loop's timer is armed for this time. The loop's thread.
    func timerArmed(for time: UInt64?) {
        armed.store(time ?? .max, ordering: .sequentiallyConsistent)
    }

    /// How many workers of the class are counted at the moment. Any thread.
    func running(rank: Int) -> Int { record(rank: rank).running }

    /// What is known of a class. Any thread.
    func record(rank: Int) -> ClassAdmission {
        machine.withLock { $0.table[QoSClass(atRank: rank)] }
    }

    // MARK: Events, each of which answers with the classes of which one worker is to be woken; it is counted

    /// There is work of a class that nobody looks for.
    func workBecameRunnable(rank: Int) -> QoSClassSet {
        event(rank: rank, note: notes.arrivals, otherwise: QoSClassSet(QoSClass(atRank: rank))) { machine, now in
            machine.workBecameRunnable(QoSClass(atRank: rank), at: now)
        }
    }

    /// A worker found nothing to do, or nobody could be woken: it is not counted any more.
    func workerWentIdle(rank: Int) -> QoSClassSet {
        event(rank: rank, note: notes.departures, otherwise: []) { machine, now in
            machine.workerWentIdle(QoSClass(atRank: rank), at: now)
        }
    }

    /// A worker that has to ask is about to take its next job.
    func workerAsked(rank: Int) -> Asked {
        var result = AskedAnswer.goesOn
        let admit = event { machine, now in
            let qosClass = QoSClass(atRank: rank)
            let answer = machine.workerAsked(qosClass, at: now)
            if answer.verdict == .park {
                result = machine.table.runsHigher(than: qosClass) ? .parks : .parksAsHighest
            }
            return answer.actions
        }
        return Asked(answer: result, admit: admit)
    }

    /// A worker's thread waits in the kernel with its job unfinished: it is not counted any more.
    func workerBlocked(rank: Int) -> QoSClassSet {
        event { machine, now in machine.workerBlocked(QoSClass(atRank: rank), at: now) }
    }

    /// The job of a blocked worker goes on, or has ended: it is counted again.
    func workerUnblocked(rank: Int) -> QoSClassSet {
        event(rank: rank, note: notes.arrivals, otherwise: []) { machine, now in
            machine.workerUnblocked(QoSClass(atRank: rank), at: now)
        }
    }

    /// A worker's job was raised to another class, or has ended: the worker counts there from now on.
    func workerMoved(from: QoSClass, to: QoSClass) -> QoSClassSet {
        event { machine, now in machine.workerMoved(from: from, to: to, at: now) }
    }

    /// Work that a class waits for runs lower and cannot be raised: the classes up to it take no jobs meanwhile.
    ///
    /// - Returns: also, the fence to lift; `nil` when enough are up.
    func fenceRaised(upTo ceiling: QoSClass, holder: QoSClass) -> (fence: FenceID?, admit: QoSClassSet) {
        var fence: FenceID?
        let admit = event { machine, now in
            let answer = machine.fenceRaised(upTo: ceiling, holder: holder, at: now)
            fence = answer.fence
            return answer.actions
        }
        return (fence, admit)
    }

    /// The awaited work has ended.
    func fenceLifted(_ fence: FenceID) -> QoSClassSet {
        event { machine, now in machine.fenceLifted(fence, at: now).actions }
    }

    /// The process may use another number of processors from now on.
    func coresChanged(to cores: Int) -> QoSClassSet {
        event { machine, now in machine.coresChanged(to: cores, at: now) }
    }

    /// A class has a width of its own from now on.
    func ownWidthChanged(rank: Int, to width: Int) -> QoSClassSet {
        event { machine, now in machine.ownWidthChanged(of: QoSClass(atRank: rank), to: width, at: now) }
    }

    /// The governor limits a class; `Int.max` is no limit, 0 pauses it.
    func widthLimitChanged(rank: Int, to limit: Int) -> QoSClassSet {
        event { machine, now in machine.widthChanged(of: QoSClass(atRank: rank), to: limit, at: now) }
    }

    /// Time has passed, as ``nextLook`` wanted. The loop's thread.
    ///
    /// It does not wait for the lock either: the holder may be a preempted thread of a low class, and as long as the high classes
    /// saturate, the kernel may leave it so. After ``patience`` everybody has to ask: those that run come for the lock at their next
    /// boundary, sleep for it, and leave the processor to its holder. What it publishes takes that back.
    func ticked() -> QoSClassSet {
        for _ in 0..<64 {
            let admit = machine.withLockIfAvailable { machine in
                handle(&machine) { machine, now in machine.ticked(at: now) }
            }
            if let admit {
                failedTries.store(0, ordering: .relaxed)
                return admit.union(takeNotesLeft())
            }
            cqos_spin_hint()
        }
        let (tries, _) = failedTries.wrappingAdd(1, ordering: .relaxed)
        if tries >= Self.patience { mustAskBits.store(Self.everybody, ordering: .relaxed) }
        lookAgain.store(Self.now.advanced(byNanoseconds: Self.nextTry).nanoseconds, ordering: .relaxed)
        return []
    }

    // MARK: The lock and the notes

    private typealias Event = (inout PickMachine, SchedulerInstant) -> AdmissionActions

    private static var now: SchedulerInstant {
        SchedulerInstant(nanoseconds: Int64(clamping: MonotonicClock.nanoseconds()))
    }

    private func event(_ body: Event) -> QoSClassSet {
        let admit = machine.withLock { machine in handle(&machine, body) }
        return admit.union(takeNotesLeft())
    }

    /// The same for a class that does not wait for the lock: when it is not free within a moment, the class leaves a note.
    private func event(
        rank: Int, note: borrowing Notes.Counts, otherwise assumed: QoSClassSet, _ body: Event
    ) -> QoSClassSet {
        guard rank >= Self.lowestHurried else { return event(body) }
        for _ in 0..<32 {
            if let admit = machine.withLockIfAvailable({ machine in handle(&machine, body) }) {
                return admit.union(takeNotesLeft())
            }
            cqos_spin_hint()
        }
        note.increment(rank: rank)
        return assumed.union(takeNotesLeft())
    }

    private func handle(_ machine: inout PickMachine, _ body: Event) -> QoSClassSet {
        let now = Self.now
        let noted = takeNotes(&machine, at: now)
        let actions = body(&machine, now)
        return publish(actions, machine.table).union(noted)
    }

    private func takeNotesLeft() -> QoSClassSet {
        var admit = QoSClassSet()
        while !notes.isEmpty {
            let taken = machine.withLockIfAvailable { machine in takeNotes(&machine, at: Self.now) }
            guard let taken else { break }
            admit.formUnion(taken)
        }
        return admit
    }

    /// Makes up for what could not be said. With the lock held.
    private func takeNotes(_ machine: inout PickMachine, at now: SchedulerInstant) -> QoSClassSet {
        guard !notes.isEmpty else { return [] }
        var admit = QoSClassSet()
        // Departures are taken first and told last: who departs has arrived before, and must not be seen to go without
        // having been seen to come.
        let departures = notes.departures.take()
        notes.arrivals.take().visitRanks { rank in
            let actions = machine.workerUnblocked(QoSClass(atRank: rank), at: now)
            admit.formUnion(publish(actions, machine.table))
        }
        departures.visitRanks { rank in
            let actions = machine.workerWentIdle(QoSClass(atRank: rank), at: now)
            admit.formUnion(publish(actions, machine.table))
        }
        return admit
    }

    private func publish(_ actions: AdmissionActions, _ table: borrowing AdmissionTable) -> QoSClassSet {
        let windows = table.openWindows
        asideBits.store(table.standingAside.rawValue, ordering: .relaxed)
        let before = windowBits.exchange(windows.rawValue, ordering: .relaxed)
        if windows.rawValue & ~before != 0 { openedBits.bitwiseOr(windows.rawValue & ~before, ordering: .relaxed) }
        mustAskBits.store(actions.mustAsk.rawValue, ordering: .relaxed)
        lookAgain.store(actions.lookAgainAt?.nanoseconds ?? .max, ordering: .relaxed)
        return actions.admit
    }
}

extension Admission {
    /// What comes of a worker's question.
    struct Asked {
        let answer: AskedAnswer
        /// The classes of which one worker each is to be woken.
        let admit: QoSClassSet
    }

    /// What a worker that asked does.
    enum AskedAnswer {
        /// It takes its next job.
        case goesOn
        /// It parks, and is not counted any more.
        case parks
        /// The same, and no worker of a higher class runs: the processor it was on is free.
        case parksAsHighest
    }

    /// What high classes did while the lock was taken.
    struct Notes: ~Copyable {
        /// Workers that were woken without having been admitted.
        let arrivals = Counts()
        /// Workers that parked without having said so.
        let departures = Counts()

        var isEmpty: Bool { arrivals.isEmpty && departures.isEmpty }

        /// A count for each rank, in one word.
        struct Counts: ~Copyable {
            private let word = Atomic<UInt64>(0)

            var isEmpty: Bool { word.load(ordering: .sequentiallyConsistent) == 0 }

            func increment(rank: Int) {
                word.wrappingAdd(1 << UInt64(rank * 12), ordering: .sequentiallyConsistent)
            }

            func take() -> Taken {
                Taken(word: word.exchange(0, ordering: .sequentiallyConsistent))
            }
        }

        /// Counts that were taken out.
        struct Taken {
            let word: UInt64

            /// Names the rank of each.
            func visitRanks(_ body: (_ rank: Int) -> Void) {
                for rank in 0..<QoSClass.allCases.count {
                    for _ in 0..<(word >> UInt64(rank * 12) & 0xFFF) { body(rank) }
                }
            }
        }
    }
}
