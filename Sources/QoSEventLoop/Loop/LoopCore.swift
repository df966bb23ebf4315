internal import CLibUV
internal import Glibc

/// The resources of a loop in libuv and the kernel: the loop itself, the wake-up, and the timer.
///
/// Wake-up and timer are descriptors (`eventfd(2)`, `timerfd_create(2)`) that libuv polls. This object closes them,
/// not the loop. So a thread that uses one while the loop ends never hits a reused descriptor.
///
/// The wake-up is no `uv_async_t`. With one, the loop's thread spins until the sender has left `uv_async_send`. A
/// sender of a lower class cannot leave it while the loop's thread has its processor. That spinning took most of a
/// processor's time.
// SAFETY: everything is set once. `loop` and the handles are touched on the loop's thread only; the descriptors, on any thread,
// are protected by the kernel.
@safe
final class LoopCore: @unchecked Sendable {
    /// The loop. The loop's thread.
    let loop: UnsafeMutablePointer<uv_loop_t>

    /// Asked before each call that can fail.
    private let fault: LoopCall.Fault

    private let wakeUp = unsafe AnyLoopHandle(for: uv_poll_t.self)
    private let wakeUpDescriptor: Int32
    private let timer = unsafe AnyLoopHandle(for: uv_poll_t.self)
    private let timerDescriptor: Int32

    /// Whether as many descriptors can be opened as making a loop takes.
    ///
    /// libuv ends the process where the second or third of them, its pipe for signals, cannot be made
    /// (`uv__signal_global_reinit`).
    ///
    /// - Returns: 0, or the negative error number.
    private static func lackOfDescriptors() -> Int32 {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        // A descriptor of epoll, the pipe, wake-up and timer.
        for _ in 0..<5 {
            let descriptor = eventfd(0, Int32(EFD_CLOEXEC))
            guard descriptor >= 0 else { return -errno }
            opened.append(descriptor)
        }
        return 0
    }

    /// Opens each closed standard stream on `/dev/null`.
    ///
    /// The loop's descriptors would else get the numbers below 3, and libuv ends the process where it closes one of
    /// those (`uv__close`). A failure leaves a stream closed.
    private static func occupyStandardStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }

    /// Makes loop, wake-up and timer.
    ///
    /// - Throws: ``EventLoopError`` when a call fails; everything made until then is given back.
    init(
        fault: @escaping LoopCall.Fault, onWake: @escaping uv_poll_cb, onTimer: @escaping uv_poll_cb
    ) throws(EventLoopError) {
        self.fault = fault
        unsafe loop = .allocate(capacity: 1)
        let (loop, wakeUp, timer) = unsafe (loop, wakeUp, timer)
        do throws(EventLoopError) {
            try Self.attempt(.loopInit, fault) {
                Self.occupyStandardStreams()
                let missing = Self.lackOfDescriptors()
                return missing == 0 ? unsafe uv_loop_init(loop) : missing
            }
        } catch {
            unsafe loop.deallocate()
            throw error
        }
        var descriptors: (timer: Int32, wakeUp: Int32) = (-1, -1)
        func poll(
            _ handle: AnyLoopHandle, _ descriptor: Int32, _ callback: @escaping uv_poll_cb
        ) throws(EventLoopError) {
            try handle.open { () throws(EventLoopError) in
                try Self.attempt(.pollInit, fault) { unsafe uv_poll_init(loop, handle.raw(), descriptor) }
                try Self.attempt(.pollStart, fault) {
                    unsafe uv_poll_start(handle.raw(), Int32(UV_READABLE.rawValue), callback)
                }
            }
        }
        do throws(EventLoopError) {
            descriptors.timer = try Self.attempt(.timerCreate, fault) {
                let result = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
                return result < 0 ? -errno : result
            }
            descriptors.wakeUp = try Self.attempt(.eventCreate, fault) {
                let result = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
                return result < 0 ? -errno : result
            }
            try unsafe poll(wakeUp, descriptors.wakeUp, onWake)
            try unsafe poll(timer, descriptors.timer, onTimer)
        } catch {
            unsafe Self.closeHandles(of: loop, sparing: nil)
            unsafe uv_loop_close(loop)
            unsafe loop.deallocate()
            for descriptor in [descriptors.timer, descriptors.wakeUp] where descriptor >= 0 { close(descriptor) }
            throw error
        }
        (timerDescriptor, wakeUpDescriptor) = descriptors
    }

    deinit {
        close(timerDescriptor)
        close(wakeUpDescriptor)
        unsafe loop.deallocate()
    }

    /// Makes a call that returns a negative error number of libuv when it fails. The loop's thread.
    @discardableResult
    func attempt(_ call: LoopCall, _ body: () -> Int32) throws(EventLoopError) -> Int32 {
        try Self.attempt(call, fault, body)
    }

    @discardableResult
    private static func attempt(
        _ call: LoopCall, _ fault: LoopCall.Fault, _ body: () -> Int32
    ) throws(EventLoopError) -> Int32 {
        let injected = fault(call)
        let status = injected < 0 ? injected : body()
        guard status >= 0 else { throw EventLoopError(call, status: status) }
        return status
    }

    /// Lets the wake-up callback run on the loop's thread. Only the thread that ``WakeGate/request()`` told to send
    /// calls it.
    func sendWakeUp() {
        var one: UInt64 = 1
        // The descriptor is open, and its count, which `takeWakeUp` takes back to 0, far from the maximum.
        let written = unsafe write(wakeUpDescriptor, &one, MemoryLayout.size(ofValue: one))
        precondition(written == MemoryLayout.size(ofValue: one), "the event descriptor refused a wake-up")
    }

    /// Takes note of the wake-ups sent so far. The loop's thread.
    func takeWakeUp() {
        var count: UInt64 = 0
        // Nothing to read is nothing to take.
        _ = unsafe read(wakeUpDescriptor, &count, MemoryLayout.size(ofValue: count))
    }

    /// Dispatches events until `interrupt()`. The loop's thread.
    func run() {
        unsafe uv_run(loop, UV_RUN_DEFAULT)
    }

    /// Lets `run()` return after the callbacks of this iteration. The loop's thread.
    func interrupt() {
        unsafe uv_stop(loop)
    }

    /// Closes all handles, waits for their close callbacks, and closes the loop. The loop's thread, once.
    ///
    /// - Parameter awaitsWakeUp: Whether a wake-up callback is still to come; it must call `closeWakeUp()`.
    /// - Throws: ``EventLoopError`` when libuv still sees an open handle.
    func shutDown(awaitsWakeUp: Bool) throws(EventLoopError) {
        unsafe Self.closeHandles(of: loop, sparing: awaitsWakeUp ? wakeUp.raw() : nil)
        let status = unsafe uv_loop_close(loop)
        // The loop is closed even when a test wants to see the failure.
        try attempt(.loopClose) { status }
    }

    /// Closes the handle that carries wake-ups. The loop's thread.
    func closeWakeUp() {
        wakeUp.closeOnLoop()
    }

    private static func closeHandles(
        of loop: UnsafeMutablePointer<uv_loop_t>, sparing spared: UnsafeMutableRawPointer?
    ) {
        unsafe uv_walk(
            loop,
            { handle, spared in
                guard let handle = unsafe handle, unsafe UnsafeMutableRawPointer(handle) != spared else { return }
                unsafe AnyLoopHandle.behind(handle)?.closeOnLoop()
            }, spared)
        // Returns when the last handle's close callback ran.
        unsafe uv_run(loop, UV_RUN_DEFAULT)
    }
}

extension LoopCore {
    /// Arms the timer for a moment of CLOCK_BOOTTIME in nanoseconds, or disarms it. Any thread.
    func armTimer(atNanoseconds deadline: UInt64?) {
        // Zero would disarm (`timerfd_settime(2)`); a nanosecond after boot is as much in the past.
        let nanoseconds = deadline.map { max($0, 1) } ?? 0
        var setting = itimerspec()
        setting.it_value.tv_sec = time_t(nanoseconds / 1_000_000_000)
        setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        let result = unsafe timerfd_settime(timerDescriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        // The descriptor is open and the setting valid, so the kernel has no reason left to refuse.
        precondition(result == 0, "timerfd_settime refused a valid setting")
    }

    /// Takes note that the timer expired. The loop's thread.
    ///
    /// - Returns: Whether it expired since the last call; not if it was armed anew in between.
    func takeExpiration() -> Bool {
        var count: UInt64 = 0
        return unsafe read(timerDescriptor, &count, MemoryLayout.size(ofValue: count)) > 0
    }
}
