import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// The driver of admission: tells ``PickMachine`` what happens, and publishes which classes have to ask.
///
/// Workers take jobs without asking as long as their class is not in ``mustAsk(rank:)``: one relaxed load for a job. The machine, and
/// its lock, is used only where a worker is about to be woken or to park, or has to ask.
///
/// Only a worker of the three lower classes that asks between two jobs waits for the lock: such a worker may hold it while it has no
/// processor. Every other thread tries for a moment, then leaves a note (``AdmissionNotes``) and goes on. Once the loop has tried in vain for
/// 20 ms, workers of all classes wait where they ask: a holder without a processor gets one of theirs. The thread that holds the lock looks for notes when it
/// takes it and after it gave it back, so that none stays behind: a note is left before the lock is tried, and the notes are looked
/// at after the lock was given back.
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

    /// The machine and what belongs to it, behind the lock.
    struct State {
        var machine: PickMachine

        /// The classes with a width limit that has not taken effect: more of their workers are at work.
        var unsettled = QoSClassSet()
    }

    let state: Lock<State>
    let notes = AdmissionNotes()
    private let widths = AdmissionWidths()

    /// When time alone changes something, monotonic nanoseconds; `Int64.max` for never.
    private let lookAgain = Atomic<Int64>(.max)

    /// For when the loop's timer is armed; `UInt64.max` when it is not.
    private let armed = Atomic<UInt64>(.max)

    /// All five classes in ``mustAskBits``.
    private static let everybody: UInt8 = 0b1_1111

    /// When the loop tries again to get the lock, nanoseconds; and how often before the workers of all classes have to ask.
    private static let nextTry: Int64 = 500_000
    private static let patience = 40

    /// The number of times that a thread tries the lock before it leaves a note.
    private static let tries = 32

    /// The number of times in a row that the loop has found the lock taken.
    private let failedTries = Atomic<Int>(0)

    /// Whether the holder of the lock is taken to have no processor.
    var isOverdue: Bool { failedTries.load(ordering: .relaxed) > Self.patience }

    /// The classes whose workers do not wait for the lock.
    static let lowestHurried = QoSClass.userInitiated.rank

    init(processors: Int, parameters: SchedulingParameters) {
        state = Lock(State(machine: PickMachine(cores: processors, parameters: parameters, at: Self.now)))
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

    /// The width limits that have taken effect since this was asked last.
    @inline(__always)
    func takeSettledWidths() -> [AdmissionWidths.Settled] { widths.hasSettled ? widths.take() : [] }

    /// Whether the loop's timer is armed for later than this.
    func isEarlierThanArmed(_ time: UInt64) -> Bool {
        time < armed.load(ordering: .sequentiallyConsistent)
    }

    /// The loop's timer is armed for this time. The loop's thread.
    func timerArmed(for time: UInt64?) {
        armed.store(time ?? .max, ordering: .sequentiallyConsistent)
    }

    // MARK: Reading, for diagnostics: waits for the lock

    /// The counts of admission since the start.
    var counters: AdmissionCounters { state.withLock { $0.machine.counters } }

    /// The number of workers of the class that are counted now.
    func running(rank: Int) -> Int { record(rank: rank).running }

    /// The record of a class.
    func record(rank: Int) -> ClassAdmission {
        state.withLock { $0.machine.table[QoSClass(atRank: rank)] }
    }

    /// The limit that was set last; `Int.max` for none.
    func widthLimit(rank: Int) -> Int { notes.limit(rank: rank).limit }

    /// A class has a width of its own from now on. Before the first thread starts.
    func setOwnWidth(rank: Int, to width: Int) {
        _ = state.withLock { $0.machine.ownWidthChanged(of: QoSClass(atRank: rank), to: width, at: Self.now) }
    }

    /// Time has passed, as ``nextLook`` wanted. The loop's thread.
    ///
    /// The holder of the lock may be a preempted thread of a low class, and as long as the high classes saturate, the kernel may leave
    /// it so. After ``patience`` the workers of all classes have to ask: they come for the lock at their next boundary, sleep for it, and
    /// leave the processor to its holder. What that publishes takes it back.
    func ticked() -> AdmittedWorkers {
        var isDone = false
        let admit = event { machine, now in
            isDone = true
            return machine.ticked(at: now)
        } note: { _ in
            let (tries, _) = failedTries.wrappingAdd(1, ordering: .relaxed)
            if tries >= Self.patience { mustAskBits.store(Self.everybody, ordering: .relaxed) }
            return AdmittedWorkers()
        }
        if isDone { failedTries.store(0, ordering: .relaxed) }
        return admit
    }

    // MARK: The lock and the notes

    typealias Event = (inout PickMachine, SchedulerInstant) -> AdmissionActions

    private static var now: SchedulerInstant {
        SchedulerInstant(nanoseconds: Int64(clamping: MonotonicClock.nanoseconds()))
    }

    /// Tells the machine of an event; or leaves a note, where the caller does not wait and the lock is not free within a moment.
    ///
    /// - Parameters:
    ///   - waits: whether the caller waits for the lock. It holds no other lock then.
    ///   - note: leaves it, and returns the workers that are woken without having been admitted.
    func event(
        waits: Bool = false, _ body: Event, note: (borrowing AdmissionNotes) -> AdmittedWorkers
    ) -> AdmittedWorkers {
        if waits {
            return takeNotesLeft(besides: state.withLock { state in handle(&state, body) })
        }
        for _ in 0..<Self.tries {
            if let admit = state.withLockIfAvailable({ state in handle(&state, body) }) {
                return takeNotesLeft(besides: admit)
            }
            cqos_spin_hint()
        }
        let assumed = note(notes)
        // The loop comes for the notes if the holder of the lock does not get so far.
        lookAgain.min(Self.now.advanced(byNanoseconds: Self.nextTry).nanoseconds, ordering: .relaxed)
        return takeNotesLeft(besides: assumed)
    }

    private func handle(_ state: inout State, _ body: Event) -> AdmittedWorkers {
        let now = Self.now
        var admitted = AdmittedWorkers()
        takeNotes(&state, at: now, &admitted)
        admitted.add(publish(body(&state.machine, now), &state, at: now))
        return admitted
    }

    /// - Parameter admitted: the workers that the caller wakes anyway.
    /// - Returns: all that it wakes.
    private func takeNotesLeft(besides admitted: AdmittedWorkers) -> AdmittedWorkers {
        var admitted = admitted
        while !notes.isEmpty {
            let known = admitted
            let all: AdmittedWorkers? = state.withLockIfAvailable { state in
                var all = known
                takeNotes(&state, at: Self.now, &all)
                return all
            }
            guard let all else { break }
            admitted = all
        }
        return admitted
    }

    /// Makes up for what could not be said. With the lock held.
    private func takeNotes(_ state: inout State, at now: SchedulerInstant, _ admitted: inout AdmittedWorkers) {
        guard !notes.isEmpty else { return }
        let taken = notes.take()
        if let cores = taken.cores {
            admitted.add(publish(state.machine.coresChanged(to: cores, at: now), &state, at: now))
        }
        for rank in 0..<5 {
            let qosClass = QoSClass(atRank: rank)
            if taken.has(.limit, rank: rank) {
                state.unsettled.insert(QoSClassSet(qosClass))
                let actions = state.machine.widthChanged(of: qosClass, to: notes.limit(rank: rank).limit, at: now)
                admitted.add(publish(actions, &state, at: now))
            }
            guard taken.hasEvents(rank: rank) else { continue }
            let actions = state.machine.workersChanged(
                qosClass, by: taken.counts[rank], wentIdle: taken.has(.idle, rank: rank),
                isWanted: taken.has(.wanted, rank: rank), at: now)
            admitted.add(publish(actions, &state, at: now))
        }
        notes.takeLifted { fence in
            admitted.add(publish(state.machine.fenceLifted(fence, at: now).actions, &state, at: now))
        }
    }

    private func publish(
        _ actions: AdmissionActions, _ state: inout State, at now: SchedulerInstant
    ) -> AdmittedWorkers {
        if !state.unsettled.isEmpty { settleWidths(&state, at: now) }
        let windows = state.machine.table.openWindows
        asideBits.store(state.machine.table.standingAside.rawValue, ordering: .relaxed)
        let before = windowBits.exchange(windows.rawValue, ordering: .relaxed)
        if windows.rawValue & ~before != 0 { openedBits.bitwiseOr(windows.rawValue & ~before, ordering: .relaxed) }
        mustAskBits.store(actions.mustAsk.rawValue, ordering: .relaxed)
        lookAgain.store(actions.lookAgainAt?.nanoseconds ?? .max, ordering: .relaxed)
        return AdmittedWorkers(actions.admit)
    }

    /// A limit has taken effect when no more workers of the class than that are at work.
    private func settleWidths(_ state: inout State, at now: SchedulerInstant) {
        var unsettled = state.unsettled
        while let qosClass = unsettled.popHighest() {
            let record = state.machine.table[qosClass]
            guard record.running <= record.widthLimit else { continue }
            state.unsettled.subtract(QoSClassSet(qosClass))
            let since = notes.limit(rank: qosClass.rank).since
            let took = UInt64(max(0, now.nanoseconds - Int64(clamping: since)))
            widths.settled(rank: qosClass.rank, limit: record.widthLimit, took: took)
        }
    }
}
