import Glibc
import QoSKernel

/// A plain thread that does things later. It takes back the changes of moves, so no move depends on
/// another one for that.
final class Assistant: Sendable {
    private struct Errand {
        let time: UInt64
        let body: @Sendable () -> Void
    }

    private let errands = Lock<[Errand]>([])

    /// Starts the thread, which runs until the process ends.
    init() throws {
        let thread = try Thread(name: "assistant") { [self] in
            while true {
                let now = MonotonicClock.nanoseconds()
                let due = errands.withLock { errands in
                    let due = errands.filter { $0.time <= now }
                    errands.removeAll { $0.time <= now }
                    return due
                }
                for errand in due { errand.body() }
                usleep(200)
            }
        }
        thread.detach()
    }

    /// Does something after some microseconds.
    func after(_ microseconds: Int, _ body: @escaping @Sendable () -> Void) {
        let time = MonotonicClock.nanoseconds() + UInt64(microseconds) * 1000
        errands.withLock { $0.append(Errand(time: time, body: body)) }
    }

    /// Suspends the calling task for some microseconds.
    func pause(_ microseconds: Int) async {
        await withCheckedContinuation { continuation in
            after(microseconds) { continuation.resume() }
        }
    }
}
