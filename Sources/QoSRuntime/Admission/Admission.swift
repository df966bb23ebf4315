import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// The driver of admission. It reports events to ``AdmissionMachine``, and publishes the classes whose workers have to ask.
///
/// Workers take jobs without asking while their class is not in ``mustAsk(rank:)``: one relaxed load for each job. The
/// machine and its lock are used only when a worker is about to be woken or to park, or has to ask.
///
/// Only a worker of the three lower classes that asks between two jobs waits for the lock. Such a worker may hold the
/// lock while it has no processor. Every other thread tries for a moment, then leaves a note (``AdmissionNotes``) and
/// goes on. If the loop has tried in vain for 20 ms, workers of all classes wait where they ask. Then a holder without
/// a processor gets one of theirs.
///
/// The thread that holds the lock looks for notes when it takes the lock and again after it gave the lock back. So no
/// note stays behind: a thread leaves its note before it tries the lock.
///
/// Threading: any thread. `Docs/Inside/Protocols/admission.md` has the rules.
final class Admission: Sendable {
    /// The classes whose workers ask before they take their next job, as bits by rank. The upper byte has those of them
    /// that ask the machine; the others only look whether the budget is to be read.
    private let mustAskBits = Atomic<UInt16>(0)

    /// The classes that a budget of processor time may hold, as bits by rank; 0 without one.
    private let budgetBits = Atomic<UInt8>(0)

    /// The time at which the budget is read while it holds classes, monotonic nanoseconds.
    private let budgetLook = Atomic<Int64>(.max)

    /// Whether a class that the budget holds asks for a worker.
    private let waitsForBudget = Atomic<Bool>(false)

    /// The classes whose starvation window is open, as bits by rank.
    private let windowBits = Atomic<UInt8>(0)

    /// The classes that stand aside for lower ones, as bits by rank.
    private let asideBits = Atomic<UInt8>(0)

    /// The classes whose window has been opened but not reported to the observer.
    private let openedBits = Atomic<UInt8>(0)

    /// The machine and its companions, behind the lock.
    struct State {
        var machine: AdmissionMachine

        /// The classes whose width limit has not taken effect yet, because more of their workers are at work.
        var unsettled = QoSClassSet()

        /// The number of times that a thread has taken the lock to report an event.
        var entries: UInt64 = 0
    }

    let state: Lock<State>
    let notes = AdmissionNotes()
    private let widths = AdmissionWidths()

    /// The time at which time alone changes something, monotonic nanoseconds; `Int64.max` for never.
    private let lookAgain = Atomic<Int64>(.max)

    /// The time for which the loop's timer is armed; `UInt64.max` when it is not.
    private let armed = Atomic<UInt64>(.max)

    /// All five classes in both bytes of ``mustAskBits``.
    private static let everybody: UInt16 = 0b1_1111_0001_1111

    /// The time after which the loop tries the lock again, in nanoseconds, and the number of tries before the workers
    /// of all classes have to ask.
    private static let nextTry: Int64 = 500_000
    private static let patience = 40

    /// The number of times that a thread tries the lock before it leaves a note.
    private static let tries = 32

    /// The number of times that the loop has found the lock taken since the last publication.
    private let failedTries = Atomic<Int>(0)

    /// Whether the holder of the lock is assumed to have no processor.
    var isOverdue: Bool { failedTries.load(ordering: .relaxed) > Self.patience }

    /// The lowest of the classes whose workers do not wait for the lock.
    static let lowestHurried = QoSClass.userInitiated.rank

    init(processors: Int, parameters: SchedulingParameters) {
        state = Lock(State(machine: AdmissionMachine(cores: processors, parameters: parameters, at: Self.now)))
    }

    /// The time by which the loop has to call ``ticked()``; `nil` when time alone changes nothing.
    ///
    /// A thread sets an earlier time, then reads the time for which the loop's timer is armed. The loop arms its timer,
    /// then reads this time. All four accesses are sequentially consistent, so one of the two sees the other.
    var nextLook: UInt64? {
        let time = min(lookAgain.load(ordering: .sequentiallyConsistent), nextBudgetLook)
        return time == .max ? nil : UInt64(max(0, time))
    }

    private var nextBudgetLook: Int64 {
        waitsForBudget.load(ordering: .sequentiallyConsistent)
            ? budgetLook.load(ordering: .sequentiallyConsistent) : .max
    }

    /// Whether a worker of the class has to ask before it takes its next job.
    @inline(__always)
    func mustAsk(rank: Int) -> Bool {
        mustAskBits.load(ordering: .relaxed) & (1 << UInt16(truncatingIfNeeded: rank)) != 0
    }

    /// Whether a worker of the class has to ask the machine, and not only to look at the budget.
    func mustAskMachine(rank: Int) -> Bool {
        mustAskBits.load(ordering: .relaxed) & (1 << UInt16(truncatingIfNeeded: rank + 8)) != 0
    }

    // MARK: The budget

    /// Whether there is a budget of processor time.
    @inline(__always)
    var hasBudget: Bool { budgetBits.load(ordering: .relaxed) != 0 }

    /// Sets the classes that look at a budget before each job. The next event publishes them.
    func setBudget(of classes: QoSClassSet) {
        budgetBits.store(classes.rawValue, ordering: .relaxed)
    }

    /// Sets the time at which the loop reads the budget, if a class that it holds waits.
    func setBudgetLook(at time: SchedulerInstant) {
        budgetLook.store(time.nanoseconds, ordering: .sequentiallyConsistent)
    }

    /// Whether the loop has to read the budget. The loop's thread.
    ///
    /// The next time is put off, in case that another thread reads the budget at this moment.
    func takeBudgetLook() -> Bool {
        let look = nextBudgetLook
        guard look != .max else { return false }
        let now = Self.now
        guard look <= now.nanoseconds else { return false }
        setBudgetLook(at: now.advanced(byNanoseconds: Self.nextTry))
        return true
    }

    /// Whether time alone has changed something in the machine.
    var isTickDue: Bool {
        let time = lookAgain.load(ordering: .relaxed)
        return time != .max && time <= Self.now.nanoseconds
    }

    /// The classes for which higher ones stand aside at this moment.
    var openWindows: QoSClassSet { QoSClassSet(rawValue: windowBits.load(ordering: .relaxed)) }

    /// Whether a class stands aside for a lower one at this moment.
    func standsAside(rank: Int) -> Bool {
        asideBits.load(ordering: .relaxed) & (1 << UInt8(truncatingIfNeeded: rank)) != 0
    }

    /// Returns the classes whose window was opened since the last call.
    func takeOpenedWindows() -> QoSClassSet {
        guard openedBits.load(ordering: .relaxed) != 0 else { return [] }
        return QoSClassSet(rawValue: openedBits.exchange(0, ordering: .relaxed))
    }

    /// Returns the width limits that have taken effect since the last call.
    @inline(__always)
    func takeSettledWidths() -> [AdmissionWidths.Settled] { widths.hasSettled ? widths.take() : [] }

    /// Whether the loop's timer is armed for later than this.
    func isEarlierThanArmed(_ time: UInt64) -> Bool {
        time < armed.load(ordering: .sequentiallyConsistent)
    }

    /// Notes the time for which the loop's timer is armed. The loop's thread.
    func timerArmed(for time: UInt64?) {
        armed.store(time ?? .max, ordering: .sequentiallyConsistent)
    }

    // MARK: Reading, for diagnostics: waits for the lock

    /// The counters of admission since the start.
    var counters: AdmissionCounters { state.withLock { $0.machine.counters } }

    /// The number of times that a thread has taken the lock to report an event.
    var entries: UInt64 { state.withLock { $0.entries } }

    /// The number of workers of the class that are counted now.
    func running(rank: Int) -> Int { record(rank: rank).running }

    /// The record of a class.
    func record(rank: Int) -> ClassAdmission {
        state.withLock { $0.machine.table[QoSClass(atRank: rank)] }
    }

    /// Returns the limit that was set last; `Int.max` for none.
    func widthLimit(rank: Int) -> Int { notes.limit(rank: rank).limit }

    /// Gives a class a width of its own. Before the first thread starts.
    func setOwnWidth(rank: Int, to width: Int) {
        _ = state.withLock { $0.machine.ownWidthChanged(of: QoSClass(atRank: rank), to: width, at: Self.now) }
    }

    /// Notes that time has passed, at ``nextLook``. The loop's thread.
    ///
    /// The holder of the lock may be a preempted thread of a low class. While the high classes saturate the processors,
    /// the kernel may leave it preempted. After ``patience`` tries, the workers of all classes have to ask. They come
    /// for the lock at their next job boundary, sleep for it, and leave the processor to its holder. The next
    /// publication withdraws that demand.
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
        if !isDone { pauseBeforeNextTry() }
        return admit
    }

    /// Lets a time that has passed give way to the loop's next try. Only the loop does so, so no other thread puts its
    /// tries off.
    ///
    /// Without it the loop would look again at once, at the highest class, and keep the processor from the holder of the
    /// lock.
    private func pauseBeforeNextTry() {
        let now = Self.now
        let next = now.advanced(byNanoseconds: Self.nextTry).nanoseconds
        var planned = lookAgain.load(ordering: .relaxed)
        while planned <= now.nanoseconds {
            let (isChanged, latest) = lookAgain.compareExchange(expected: planned, desired: next, ordering: .relaxed)
            if isChanged { return }
            planned = latest
        }
    }

    // MARK: The lock and the notes

    typealias Event = (inout AdmissionMachine, SchedulerInstant) -> AdmissionActions

    private static var now: SchedulerInstant {
        SchedulerInstant(nanoseconds: Int64(clamping: MonotonicClock.nanoseconds()))
    }

    /// Reports an event to the machine. If the caller does not wait and the lock is not free within a moment, leaves a
    /// note instead.
    ///
    /// - Parameters:
    ///   - waits: whether the caller waits for the lock. It then holds no other lock.
    ///   - note: leaves the note, and returns the workers that are woken without having been admitted.
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
        // The loop comes for the notes if the holder of the lock does not take them.
        lookAgain.min(Self.now.advanced(byNanoseconds: Self.nextTry).nanoseconds, ordering: .sequentiallyConsistent)
        return takeNotesLeft(besides: assumed)
    }

    private func handle(_ state: inout State, _ body: Event) -> AdmittedWorkers {
        let now = Self.now
        state.entries &+= 1
        var admitted = AdmittedWorkers()
        takeNotes(&state, at: now, &admitted)
        admitted.add(publish(body(&state.machine, now), &state, at: now))
        return admitted
    }

    /// - Parameter admitted: the workers that the caller wakes anyway.
    /// - Returns: all workers that the caller wakes.
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

    /// Takes the notes and tells the machine of them. With the lock held.
    private func takeNotes(_ state: inout State, at now: SchedulerInstant, _ admitted: inout AdmittedWorkers) {
        guard !notes.isEmpty else { return }
        let taken = notes.take()
        if let held = taken.held {
            admitted.add(publish(state.machine.heldBackChanged(to: held, at: now), &state, at: now))
        }
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
        // The holder is back, or this is another one. The loop may have no reason to try again soon.
        if failedTries.load(ordering: .relaxed) != 0 { failedTries.store(0, ordering: .relaxed) }
        let asks = actions.mustAsk.rawValue
        mustAskBits.store(UInt16(asks) << 8 | UInt16(asks | budgetBits.load(ordering: .relaxed)), ordering: .relaxed)
        publishLook(
            at: actions.lookAgainAt?.nanoseconds ?? .max,
            waitsForBudget: !actions.waiting.isDisjoint(with: state.machine.table.heldBack))
        return AdmittedWorkers(actions.admit)
    }

    /// Publishes what ``nextLook`` depends on. A value that stays is not stored again: the thread that stored it has
    /// compared it with the loop's timer, or is about to.
    private func publishLook(at time: Int64, waitsForBudget isHeld: Bool) {
        if waitsForBudget.load(ordering: .relaxed) != isHeld {
            waitsForBudget.store(isHeld, ordering: .sequentiallyConsistent)
        }
        if lookAgain.load(ordering: .relaxed) != time { lookAgain.store(time, ordering: .sequentiallyConsistent) }
    }

    /// Notes the limits that have taken effect: no more workers of the class than the limit are at work.
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
