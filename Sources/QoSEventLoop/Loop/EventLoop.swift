internal import CLibUV
internal import Glibc
internal import Synchronization

/// A libuv loop: one thread that waits for wake-ups, one timer, signals, descriptors, files and child processes.
///
/// **Threads.** The thread that calls ``run()`` is the loop's thread until `run()` returns; it is the main thread or
/// any other. All closures given to the loop are called there, one at a time. ``stop()``, ``wake()``, ``submit(_:)``,
/// ``perform(_:)`` and ``armTimer(atNanoseconds:)`` may be called from any thread, at any time: before the loop runs,
/// while it ends, and after. Watches are made on the loop's thread only; ``perform(_:)`` brings you there.
///
/// **Life.** A loop runs once. `stop()` is a request. The loop then runs the bodies submitted so far and closes every
/// handle. It waits until libuv confirms each, closes the libuv loop, and lets `run()` return. A loop dropped before
/// it ran closes its handles too. It releases submitted bodies without running them.
///
/// **Wake-ups.** They coalesce: any number of `wake()` calls leads to at least one call of `onWake` that begins after
/// the latest of them. That call sees every write before `wake()`.
///
/// Nothing here runs on libuv's thread pool.
package final class EventLoop: Sendable {
    let core: LoopCore

    private let onWake: @Sendable () -> Void
    private let onTimer: @Sendable () -> Void
    private let gate = WakeGate()
    private let state = LoopLock(LoopState())

    /// The `pthread_self()` of the thread inside `run()`; 0 when there is none.
    private let thread = Atomic<UInt>(0)

    /// Makes a loop; it does not run yet. Any thread.
    ///
    /// - Parameters:
    ///   - onWake: Called on the loop's thread after one or several ``wake()``.
    ///   - onTimer: Called on the loop's thread after the moment given to ``armTimer(atNanoseconds:)``.
    ///   - fault: Makes calls fail, for tests.
    /// - Throws: ``EventLoopError`` when a call of libuv or the kernel fails. Example: the process has no descriptor
    ///   left.
    package init(
        onWake: @escaping @Sendable () -> Void,
        onTimer: @escaping @Sendable () -> Void = {},
        fault: @escaping LoopCall.Fault = { _ in 0 }
    ) throws(EventLoopError) {
        self.onWake = onWake
        self.onTimer = onTimer
        core = try unsafe LoopCore(
            fault: fault,
            onWake: { handle, _, _ in unsafe EventLoop.behind(handle?.pointee.loop)?.wokeUp() },
            onTimer: { handle, _, _ in unsafe EventLoop.behind(handle?.pointee.loop)?.timerExpired() }
        )
        // Not retained: callbacks come only inside of `run()`, which keeps the loop.
        unsafe core.loop.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        if state.withLock({ $0.needsClosing }) {
            // It never ran, so there is no handle that could still be open afterwards, and with the last reference gone
            // no thread is inside of `wake()`.
            try? core.shutDown(awaitsWakeUp: false)
        }
    }

    private static func behind(_ loop: UnsafeMutablePointer<uv_loop_t>?) -> EventLoop? {
        guard let data = unsafe loop?.pointee.data else { return nil }
        return unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue()
    }
}

// MARK: - Running and stopping

extension EventLoop {
    /// Whether the calling thread is inside of this loop's ``run()``. Any thread, wait-free.
    package var isOnLoopThread: Bool {
        // Relaxed: the only thread for which the answer is yes wrote the value itself.
        thread.load(ordering: .relaxed) == pthread_self()
    }

    /// Makes the calling thread the loop's thread and dispatches events until ``stop()``; then closes everything.
    ///
    /// Returns when every handle is closed. The signal mask, name and priority of the thread stay as they are.
    ///
    /// - Throws: ``EventLoopError`` with `alreadyRun` when the loop runs or ran, on this or another thread.
    package func run() throws(EventLoopError) {
        guard state.withLock({ $0.runCalled() }) else { throw .alreadyRun }
        thread.store(pthread_self(), ordering: .relaxed)
        defer { thread.store(0, ordering: .relaxed) }
        core.run()
        state.withLock { $0.closingBegan() }
        let outcome = Result { () throws(EventLoopError) in try core.shutDown(awaitsWakeUp: gate.close()) }
        state.withLock { $0.closed() }
        try outcome.get()
    }

    /// Asks the loop to end; returns at once. Any thread, any number of times, also before ``run()``.
    package func stop() {
        if state.withLock({ $0.stopCalled() }) {
            wake()
        }
    }
}

// MARK: - Wake-ups and bodies

extension EventLoop {
    /// Lets the loop call `onWake` on its thread. Any thread; never waits.
    ///
    /// A few nanoseconds if a wake-up is under way already, a write to an event descriptor otherwise. Does nothing once
    /// the loop closed its handles.
    package func wake() {
        if gate.request() {
            core.sendWakeUp()
        }
    }

    /// Runs a body on the loop's thread, after all earlier ones. Any thread; never waits.
    ///
    /// A running loop runs every accepted body, also if ``stop()`` comes in between.
    ///
    /// - Throws: ``EventLoopError`` with `stopped` once the loop acted on a stop. The body does not run.
    package func submit(_ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        guard state.withLock({ $0.submitted(body) }) else { throw .stopped("submit") }
        wake()
    }

    /// Runs a body on the loop's thread and returns what it returns; at once if called there. Any thread.
    ///
    /// Waits until the loop runs, if it does not yet.
    ///
    /// - Throws: What the body throws; ``EventLoopError`` with `stopped` once the loop acted on a stop.
    package func perform<Success: Sendable>(
        _ body: @escaping @Sendable () throws(EventLoopError) -> Success
    ) async throws(EventLoopError) -> Success {
        if isOnLoopThread {
            return try body()
        }
        let outcome: Result<Success, EventLoopError> = await withCheckedContinuation { continuation in
            do throws(EventLoopError) {
                try submit { continuation.resume(returning: Result(catching: body)) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try outcome.get()
    }

    /// Whether handles may be made and used here and now.
    ///
    /// - Parameter call: The name of the function that asks.
    /// - Throws: ``EventLoopError`` with `notOnLoopThread` or `stopped`.
    func checkHandlesMayBeUsed(_ call: String) throws(EventLoopError) {
        guard isOnLoopThread else { throw .notOnLoopThread(call) }
        guard state.withLock({ $0.acceptsHandles }) else { throw .stopped(call) }
    }

    private func wokeUp() {
        // Before the gate lets the next one in.
        core.takeWakeUp()
        let isLast = gate.begin()
        let batch = state.withLock { $0.wokeUp() }
        for body in batch.bodies {
            body()
        }
        onWake()
        if batch.endsLoop {
            core.interrupt()
        }
        if isLast {
            core.closeWakeUp()
        }
    }
}

// MARK: - The timer

extension EventLoop {
    /// Lets `onTimer` be called once on the loop's thread when CLOCK_BOOTTIME reaches a moment. Any thread.
    ///
    /// Replaces the moment that was set before; one in the past fires at once, `nil` disarms. The loop is not woken by
    /// the call itself, which costs one `timerfd_settime(2)`. Concurrent calls take effect in an unspecified order. If
    /// the latest must win, hold a lock while you compute the moment and make this call. `onTimer` may still run for a
    /// replaced moment that had passed.
    ///
    /// - Parameter deadline: Nanoseconds of CLOCK_BOOTTIME, which also counts the time in which the machine is suspended
    ///   (`clock_gettime(2)`).
    package func armTimer(atNanoseconds deadline: UInt64?) {
        core.armTimer(atNanoseconds: deadline)
    }

    private func timerExpired() {
        if core.takeExpiration() {
            onTimer()
        }
    }
}

// MARK: - The library

extension EventLoop {
    /// The version of the libuv that is loaded, `1.44.2`.
    package static var libraryVersion: String {
        unsafe String(cString: uv_version_string())
    }
}
