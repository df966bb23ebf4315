import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// The iterations of a parallel loop, which the participating threads take one after the other (rule B14).
///
/// Threading: any thread. `body` exists until ``finish()``, and every participant has joined before that.
// SAFETY: `body` is set before the work is shared. It is cleared when no thread takes part and none can join.
final class ParallelWork: @unchecked Sendable {
    /// The nanoseconds of a wait for the participants after which the registry learns of it. Most last iterations end
    /// before, and a short loop would cost twice as much otherwise.
    private static let firstPatience: UInt64 = 100_000

    private let count: Int

    /// The context in which the helping threads run the loop.
    let context: CarriedContext?

    /// The label of the loop's queue.
    private let label: String

    /// The level at which the helping threads run the loop.
    private let level: LevelCode
    private var body: ((Int) -> Void)?
    private let next = Atomic(0)
    private let participants = Lock(Participants())

    private struct Participants {
        var all: [Participant] = []
        var isClosed = false
        var wait: ThreadWait?
        /// The raises that have not been taken back, with the entries that they raised.
        var raises: [(level: LevelCode, entries: [WorkEntry])] = []
    }

    /// A thread that runs iterations, and the entry in which it does so.
    private struct Participant {
        let thread: UInt32
        let entry: WorkEntry?
    }

    init(
        count: Int, of queue: QueueCore, at level: LevelCode, context: CarriedContext? = nil,
        body: @escaping (Int) -> Void
    ) {
        self.count = count
        self.context = context
        self.level = level
        self.body = body
        label = queue.label
    }

    /// Takes part until no iteration is left. Does nothing when the loop has ended.
    func takePart() {
        let own = Participant(thread: cqos_own_id(), entry: WorkEntry.current)
        let joined = participants.withLock { participants in
            guard !participants.isClosed else { return false }
            participants.all.append(own)
            return true
        }
        guard joined else { return }
        runIterations()
        let wait = participants.withLock { participants in
            // A thread that waits within an iteration may take part once more. Its latest part ends first.
            let place = participants.all.lastIndex { $0.thread == own.thread }
            if let place { participants.all.remove(at: place) }
            return participants.all.isEmpty ? participants.wait : nil
        }
        wait?.parker.unpark()
    }

    /// Keeps no reference to the closure when it returns.
    @inline(never)
    private func runIterations() {
        guard let body else { return }
        while true {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            if index >= count { return }
            body(index)
        }
    }

    /// Prevents further iterations from beginning.
    func stop() {
        next.store(count, ordering: .relaxed)
    }

    /// Waits for the participants after all iterations have been taken. No thread can join from now on.
    func finish() {
        let isBusy = participants.withLock { participants in
            participants.isClosed = true
            return !participants.all.isEmpty
        }
        if isBusy { waitForParticipants() }
        body = nil
    }

    private func waitForParticipants() {
        let wait = ThreadWait()
        let patience = MonotonicClock.nanoseconds() + Self.firstPatience
        guard isBusy(orWakes: wait), !wait.parker.park(untilNanoseconds: patience) else { return }
        let own = LevelCode(QoS.waitingLevel)
        // The participants run at the level of the loop anyway.
        if own > level { raised(to: own) }
        defer { if own > level { lowered(from: own) } }
        let waiter = LockWaiter(
            party: .callingThread, name: nil, level: own.level, lockName: awaitedName)
        while isBusy(orWakes: wait) {
            // Not refused: the participants run the caller's closure.
            try? waiter.sleep(wait, awaiting: self, refusal: WorkQueueError.deadlock(waits:))
        }
    }

    private func isBusy(orWakes wait: ThreadWait) -> Bool {
        participants.withLock { participants in
            participants.wait = wait
            return !participants.all.isEmpty
        }
    }
}

extension ParallelWork: ThreadWaitTarget {
    var blockers: [UInt32] { participants.withLock { $0.all.map(\.thread) } }

    var awaitedName: String { "a parallel loop of queue '\(label)'" }

    /// The caller cannot go on while other threads run its closure. So a participant's wait is given up.
    var mayBeGivenUp: Bool { false }

    func raised(to level: LevelCode) {
        let entries = participants.withLock { participants in
            let entries = participants.all.compactMap(\.entry)
            participants.raises.append((level, entries))
            return entries
        }
        for entry in entries { entry.queue.waitBegan(for: entry, at: level) }
    }

    func lowered(from level: LevelCode) {
        let entries = participants.withLock { participants in
            let place = participants.raises.lastIndex { $0.level == level }
            return place.map { participants.raises.remove(at: $0).entries } ?? []
        }
        for entry in entries { entry.queue.waitEnded(for: entry, at: level) }
    }
}
