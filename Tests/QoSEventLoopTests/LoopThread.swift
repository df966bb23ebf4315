import Dispatch
import Glibc
import QoSEventLoop
import Synchronization
import Testing

extension Tag {
    /// Needs libuv and the kernel.
    @Tag static var libuv: Self
}

/// Runs a loop on a thread of its own.
final class LoopThread: Sendable {
    private final class Run: Sendable {
        let loop: EventLoop
        let outcome = Mutex<Result<Void, EventLoopError>?>(nil)

        init(_ loop: EventLoop) {
            self.loop = loop
        }
    }

    private let run: Run
    private let thread: pthread_t

    init(_ loop: EventLoop) {
        run = Run(loop)
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(run).toOpaque()
        unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let run = unsafe Unmanaged<Run>.fromOpaque(context).takeRetainedValue()
                let result = Result { () throws(EventLoopError) in try run.loop.run() }
                run.outcome.withLock { $0 = result }
                return nil
            }, context)
        self.thread = thread
    }

    /// Waits until the thread is gone and holds nothing any more; throws what `run()` threw. To be called once.
    func join() throws(EventLoopError) {
        pthread_join(thread, nil)
        try run.outcome.withLock { $0 }?.get()
    }
}

/// Waits for a number of events that other threads report.
final class Events: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func report() {
        semaphore.signal()
    }

    /// Blocks until `count` more events were reported.
    func wait(for count: Int = 1) {
        for _ in 0..<count {
            semaphore.wait()
        }
    }
}

/// Makes a loop, runs it on a thread while `body` runs on this one, then stops the loop and waits for its end.
func withRunningLoop<Success>(
    onWake: @escaping @Sendable () -> Void = {},
    onTimer: @escaping @Sendable () -> Void = {},
    fault: @escaping LoopCall.Fault = { _ in 0 },
    _ body: (EventLoop) async throws -> Success
) async throws -> Success {
    let loop = try EventLoop(onWake: onWake, onTimer: onTimer, fault: fault)
    let thread = LoopThread(loop)
    let outcome: Result<Success, any Error>
    do {
        outcome = .success(try await body(loop))
    } catch {
        outcome = .failure(error)
    }
    loop.stop()
    try thread.join()
    return try outcome.get()
}

/// CLOCK_BOOTTIME in nanoseconds.
func boottimeNow() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
