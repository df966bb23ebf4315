import QoSCore
import QoSKernel
import Synchronization

/// The entry of a synchronous submission. It is one of these:
///
/// - the body of a submission;
/// - the entry that stands for a submission in the target of its queue;
/// - without a body, the turn of a submitter that found its serial queue idle.
///
/// The entry is claimed from the start: only its submitter runs it. A submitter that finds the queue busy gives the
/// entry back.
///
/// Threading: as the base class; the thread that runs the entry takes `body`, before the submitter goes on.
// SAFETY: `body` and `wait` are set before the entry is shared. After that only the thread that has set `isTaken`
// touches `body`. That thread is the submitter, or is done with `body` before it sets `isDone`.
final class SyncEntry: WorkEntry, @unchecked Sendable {
    private var body: (() -> Void)?
    private let carried: SyncEntry?
    private let isTaken = Atomic<Bool>(false)
    private let done = Atomic<Bool>(false)

    /// The submitter's wait, if it waits.
    var wait: ThreadWait?

    init(queue: QueueCore, level: LevelCode, callerRank: Int, isBarrier: Bool, body: (() -> Void)?) {
        self.body = body
        carried = nil
        super.init(queue: queue, level: level, isBarrier: isBarrier)
        self.callerRank = callerRank
        _ = claim()
    }

    init(carrying carried: SyncEntry, queue: QueueCore, level: LevelCode) {
        body = nil
        self.carried = carried
        super.init(queue: queue, level: level)
        callerRank = carried.callerRank
        _ = claim()
    }

    /// Whether the entry has run, and no longer holds its submitter's closure.
    var isDone: Bool { done.load(ordering: .acquiring) }

    /// False once the closure runs: it is its submitter's.
    override var mayBeGivenUp: Bool { !isTaken.load(ordering: .acquiring) }

    override func perform() {
        if let carried {
            carried.run()
            return
        }
        guard take() else { return }
        runBody()
        let wait = self.wait
        done.store(true, ordering: .releasing)
        wait?.parker.unpark()
    }

    /// Runs the closure. Keeps no reference to it afterwards: it is the submitter's.
    @inline(never)
    private func runBody() {
        body?()
        body = nil
    }

    private func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }

    /// Gives the submission up. Its turn will come and pass without the closure.
    ///
    /// - Returns: `false` when the closure has begun.
    func withdraw() -> Bool {
        guard take() else { return false }
        body = nil
        return true
    }

    /// Runs an entry that already has its turn, inside its carriers, and gives the turns back.
    func runEntered() {
        var outermost: WorkEntry = self
        while let carrier = outermost.carrier { outermost = carrier }
        outermost.run()
        var entry: WorkEntry? = self
        while let current = entry {
            let carrier = current.carrier
            if !current.queue.isGlobal { current.queue.finish(current) }
            entry = carrier
        }
    }
}
