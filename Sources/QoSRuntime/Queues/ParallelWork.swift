import QoSKernel
import Synchronization

/// The iterations of a parallel loop, which the participating threads take one after the other (rule B14).
///
/// Threading: any thread. `body` exists until ``finish()``, and every participant has joined before that.
// SAFETY: `body` is set before the work is shared. It is cleared when no thread takes part and none can join.
final class ParallelWork: @unchecked Sendable {
    private let count: Int

    /// The context in which the helping threads run the loop.
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

    /// Takes part until no iteration is left. Does nothing when the loop has ended.
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
