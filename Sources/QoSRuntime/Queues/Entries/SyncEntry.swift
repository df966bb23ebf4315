import QoSCore
import QoSKernel
import Synchronization

/// The body of a synchronous submission; or what stands for one in the queue that its own targets; or, without a body, the turn of a
/// submitter that found its serial queue idle.
///
/// Made claimed: nobody but its submitter runs it, unless that finds the queue busy and gives it back.
///
/// Threading: as the base class; `body` is taken by the one that runs it, before the submitter goes on.
// SAFETY: `body` and `wait` are set before the entry is shared; `body` is touched after that only by the one that has set
// `isTaken`, which ends before `isDone` is set, or is the submitter.
final class SyncEntry: WorkEntry, @unchecked Sendable {
    private var body: (() -> Void)?
    private let carried: SyncEntry?
    private let isTaken = Atomic<Bool>(false)
    private let done = Atomic<Bool>(false)

    /// Who waits for it, if its submitter does.
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

    /// Whether it has run, and does not hold its submitter's closure any more.
    var isDone: Bool { done.load(ordering: .acquiring) }

    /// Not once the closure runs, which is its submitter's.
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

    /// When it returns, nothing refers to the closure any more, which is the submitter's.
    @inline(never)
    private func runBody() {
        body?()
        body = nil
    }

    private func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }

    /// Its submitter gives up: its turn will come and pass without the closure.
    ///
    /// - Returns: `false` when it has begun.
    func withdraw() -> Bool {
        guard take() else { return false }
        body = nil
        return true
    }

    /// Runs it where it has its turn already, with what stands for it around it, and gives the turns back.
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
