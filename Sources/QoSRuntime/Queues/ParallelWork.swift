import QoSKernel
import Synchronization

/// The iterations of a parallel loop, taken one after the other by whoever takes part (rule B14).
///
/// Threading: any thread; `body` is there until ``finish()``, and whoever takes part has joined before that.
// SAFETY: `body` is set before the work is shared, and cleared when nobody takes part any more and nobody can join.
final class ParallelWork: @unchecked Sendable {
    private let count: Int

    /// What the helping threads run it with.
    let context: CarriedContext?
    private var body: ((Int) -> Void)?
    private let next = Atomic(0)
    private let participants = Lock(Participants())

    private struct Participants {
        var count = 0
        var isClosed = false
        var wait: ThreadWait?
    }

    init(count: Int, context: CarriedContext? = nil, body: @escaping (Int) -> Void) {
        self.count = count
        self.context = context
        self.body = body
    }

    /// Takes part until no iteration is left; does nothing when the loop has ended.
    func takePart() {
        let joined = participants.withLock { participants in
            guard !participants.isClosed else { return false }
            participants.count += 1
            return true
        }
        guard joined else { return }
        runIterations()
        let wait = participants.withLock { participants in
            participants.count -= 1
            return participants.count == 0 ? participants.wait : nil
        }
        wait?.parker.unpark()
    }

    /// Nothing refers to the closure when it returns.
    @inline(never)
    private func runIterations() {
        guard let body else { return }
        while true {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            if index >= count { return }
            body(index)
        }
    }

    /// Lets nobody begin a further iteration.
    func stop() {
        next.store(count, ordering: .relaxed)
    }

    /// Waits for those who take part, after all iterations have been taken; nobody joins from now on.
    func finish() {
        let wait = ThreadWait()
        let isBusy = participants.withLock { participants in
            participants.isClosed = true
            participants.wait = wait
            return participants.count > 0
        }
        if isBusy { wait.parker.park() }
        body = nil
    }
}
