import Dispatch
import Foundation
import Glibc
import QoSEventLoop
import Synchronization
import Testing

extension Tag {
    /// Needs libuv and the kernel.
    @Tag static var libuv: Self
}

/// Runs a loop on a thread of its own, and tells when its `run()` returned.
final class LoopThread: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<Result<Void, EventLoopError>?>(nil)

    init(_ loop: EventLoop) {
        let body: @Sendable () -> Void = { [self] in
            let result = Result { () throws(EventLoopError) in try loop.run() }
            outcome.withLock { $0 = result }
            ended.signal()
        }
        Thread.detachNewThread(body)
    }

    /// Waits until `run()` returned, and throws what it threw.
    func join() throws(EventLoopError) {
        ended.wait()
        ended.signal()
        try outcome.withLock { $0 }?.get()
    }
}

/// Waits for a number of events that other threads report.
final class Events: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func report() {
        semaphore.signal()
    }

    /// Blocks until `count` events were reported that nobody waited for yet.
    func wait(for count: Int = 1) {
        for _ in 0..<count {
            semaphore.wait()
        }
    }
}

/// Makes a loop, runs it on a thread while `body` runs on this one, stops it and waits for its end.
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

/// CLOCK_MONOTONIC in nanoseconds.
func monotonicNow() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
