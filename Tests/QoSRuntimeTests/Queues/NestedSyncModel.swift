import QoSCore

/// Threads that each hold the turn of a serial queue and submit synchronously to one another's, closure within closure,
/// in every interleaving: thread 0 holds queue 0; the closure of thread i's submission runs on thread i + 1, and the
/// last one submits to queue 0.
///
/// What can come between a thread's adding its closure and its falling asleep is the question: another thread may have
/// begun the closure by then, so that it cannot be taken back.
struct NestedSyncModel: ExploredModel {
    private enum Step {
        /// Runs nothing yet.
        case idle
        /// Has a closure to submit.
        case submits
        /// Has submitted it, and is about to look whether it may sleep.
        case looks
        case sleeps
        /// Is woken, its wait to be given up.
        case isRefused
        /// Has given up, or got what it waited for.
        case goesOn
    }

    private var threads: [Step]
    /// Whether the closure that a thread has submitted runs.
    private var hasBegun: [Bool]
    /// Whether a thread that cannot give up lets another one give up.
    let refusesOthers: Bool

    init(threads count: Int, refusesOthers: Bool) {
        threads = [.submits] + Array(repeating: .idle, count: count - 1)
        hasBegun = Array(repeating: false, count: count)
        self.refusesOthers = refusesOthers
    }

    var violation: String? {
        let sleeping = threads.allSatisfy { $0 == .sleeps || $0 == .idle }
        return sleeping && steps.isEmpty ? "all sleep, and none has been refused" : nil
    }

    var steps: [(name: String, next: NestedSyncModel)] {
        threads.indices.flatMap { index in
            [
                ("thread \(index) submits", submitting(index)), ("the closure of \(index) begins", beginning(index)),
                ("thread \(index) looks", looking(index)), ("thread \(index) gives up", givingUp(index)),
                ("thread \(index) is done", ending(index)),
            ].compactMap { name, next in next.map { (name, $0) } }
        }
    }

    private func changed(_ change: (inout NestedSyncModel) -> Void) -> NestedSyncModel {
        var next = self
        change(&next)
        return next
    }

    private func submitting(_ index: Int) -> NestedSyncModel? {
        threads[index] == .submits ? changed { $0.threads[index] = .looks } : nil
    }

    /// A closure that stands in a queue of its own begins on the next thread. That of the last stands in queue 0, which
    /// thread 0 has.
    private func beginning(_ index: Int) -> NestedSyncModel? {
        let isSubmitted = threads[index] == .looks || threads[index] == .sleeps || threads[index] == .isRefused
        guard isSubmitted, !hasBegun[index], index + 1 < threads.count else { return nil }
        return changed {
            $0.hasBegun[index] = true
            $0.threads[index + 1] = .submits
        }
    }

    private func looking(_ index: Int) -> NestedSyncModel? {
        guard threads[index] == .looks else { return nil }
        return changed { model in
            model.threads[index] = .sleeps
            // The circle is known when all that stand on it sleep, and each closure but the last one runs.
            guard model.threads.allSatisfy({ $0 == .sleeps }) else { return }
            switch DeadlockVictim(
                of: Array(threads.indices), closedBy: index, mayGiveUp: { other in !hasBegun[other] })
            {
            case .closing: model.threads[index] = .isRefused
            case .other(let other): if refusesOthers { model.threads[other] = .isRefused }
            case .nobody: break
            }
        }
    }

    private func givingUp(_ index: Int) -> NestedSyncModel? {
        guard threads[index] == .isRefused else { return nil }
        return changed { $0.threads[index] = hasBegun[index] ? .looks : .goesOn }
    }

    /// The closure that a thread waits for has ended when the thread that runs it goes on.
    private func ending(_ index: Int) -> NestedSyncModel? {
        guard threads[index] == .sleeps, hasBegun[index], threads[index + 1] == .goesOn else { return nil }
        return changed { $0.threads[index] = .goesOn }
    }
}
