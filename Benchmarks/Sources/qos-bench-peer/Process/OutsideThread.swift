import CBenchShims
import Glibc
import Synchronization

/// A thread that is no executor's: what arrives from the network or another library comes in from such a one.
///
/// Threading: any thread may hand it bodies; they run one after another.
@safe
final class OutsideThread: Sendable {
    private let bodies = Mutex<[@Sendable () -> Void]>([])

    // SAFETY: the semaphore is never moved or freed; its calls may come from any thread.
    private nonisolated(unsafe) let wanted: UnsafeMutablePointer<sem_t>

    /// Starts the thread.
    ///
    /// - Parameter isRealTime: asks for real time, so that the thread's own wake-ups are not what is measured; root
    ///   gets it, others a short slice.
    init(isRealTime: Bool) {
        unsafe wanted = .allocate(capacity: 1)
        unsafe sem_init(wanted, 0, 0)
        if isRealTime { perform { _ = bench_become_outside_world() } }
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let error = unsafe pthread_create(
            &thread, nil,
            { context in
                // SAFETY: the pointer is the object that `init` retained for this thread.
                let outside = unsafe Unmanaged<OutsideThread>.fromOpaque(context.unsafelyUnwrapped).takeRetainedValue()
                outside.serve()
            }, context)
        guard error == 0 else { PeerMain.fail("the outside thread cannot be created: error \(error)", status: 1) }
        // Its policy must be set while the process still may.
        if isRealTime { waitUntilIdle() }
    }

    /// Runs a body on the thread, later.
    func perform(_ body: @escaping @Sendable () -> Void) {
        bodies.withLock { $0.append(body) }
        unsafe sem_post(wanted)
    }

    /// Lets the calling task wait on this thread's clock, not on its executor's.
    func sleep(seconds: Double) async {
        await sleep(until: bench_now() + UInt64(seconds * 1e9))
    }

    /// The same until a point in monotonic nanoseconds.
    func sleep(until deadline: UInt64) async {
        await withCheckedContinuation { continuation in
            perform {
                bench_sleep_until(deadline)
                continuation.resume()
            }
        }
    }

    private func serve() -> Never {
        while true {
            while unsafe sem_wait(wanted) != 0 {}
            let body = bodies.withLock { $0.removeFirst() }
            body()
        }
    }

    private func waitUntilIdle() {
        let isIdle = Flag()
        perform { isIdle.set() }
        while !isIdle.isSet { sched_yield() }
    }
}
