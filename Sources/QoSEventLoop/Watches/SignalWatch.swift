internal import CLibUV

/// Tells of a signal while it exists.
///
/// Several watches, of one loop or many, may watch the same signal; all are told. While a watch exists, the signal's
/// default action does not happen. After the last one it does what it did before the first, or what another library has
/// set meanwhile. Signals that arrive in quick succession may be told of once (`signal(7)`).
package final class SignalWatch: Sendable {
    /// The number of the signal.
    package let signal: Int32

    private let lease: HandleLease

    fileprivate init(signal: Int32, lease: consuming HandleLease) {
        self.signal = signal
        self.lease = lease
    }

    /// Ends the watch; dropping the last reference does it too. Any thread.
    ///
    /// On the loop's thread: no call of the handler comes after this returned. On another: none begins after this
    /// returned, one that began may still run.
    package func close() {
        lease.close()
    }
}

extension EventLoop {
    /// Watches a signal. The loop's thread.
    ///
    /// - Parameters:
    ///   - signal: Its number, such as `SIGTERM`.
    ///   - handler: Called on the loop's thread for each arrival.
    /// - Returns: The watch; it ends when this is dropped, and when the loop ends.
    /// - Throws: ``EventLoopError`` when the signal cannot be caught, or the call is made on another thread.
    package func watchSignal(
        _ signal: Int32, handler: @escaping @Sendable () -> Void
    ) throws(EventLoopError) -> SignalWatch {
        try checkHandlesMayBeUsed("watchSignal")
        let handle = unsafe SignalHandle(for: uv_signal_t.self, signal: signal, handler: handler)
        try handle.open { () throws(EventLoopError) in
            try core.attempt(.signalInit) { unsafe uv_signal_init(core.loop, handle.raw()) }
            try handle.start(core)
        }
        return SignalWatch(signal: signal, lease: HandleLease(handle, of: self))
    }
}

/// The handle of a signal watch. The end of the last one brings back what the signal did before.
// SAFETY: as the superclass; what this class adds is touched on the loop's thread only.
final class SignalHandle: LoopHandle<Void>, @unchecked Sendable {
    private let signal: Int32

    /// Whether libuv watches the signal for this handle. The loop's thread.
    private var isStarted = false

    /// Allocates a handle that libuv does not know yet.
    init<Raw>(for type: Raw.Type, signal: Int32, handler: @escaping @Sendable () -> Void) {
        self.signal = signal
        super.init(for: type, handler: { _ in handler() })
    }

    /// Begins to watch the signal. The loop's thread.
    func start(_ core: LoopCore) throws(EventLoopError) {
        try core.attempt(.signalStart) {
            SignalActions.begin(signal) {
                unsafe uv_signal_start(raw(), { raw, _ in unsafe LoopHandle<Void>.of(raw)?.report(()) }, signal)
            }
        }
        isStarted = true
    }

    override func closeOnLoop() {
        // Here, since it may release anything, and not under the lock of the actions.
        silence()
        guard isStarted else { return super.closeOnLoop() }
        isStarted = false
        SignalActions.end(signal) { super.closeOnLoop() }
    }
}

/// What the watched signals of the process did before they were watched.
///
/// libuv sets the default action when its last handle for a signal ends, whatever was there before: under `nohup` a
/// later SIGHUP would end the process. For the moment between libuv's step and ours the default action is in force.
///
/// Threading: any thread. libuv is called under the lock, and takes its own inside of it.
enum SignalActions {
    private struct Watched: Sendable {
        /// The number of handles that watch the signal.
        var count = 1
        /// The action before the first of them.
        let before: SignalAction
        /// The action with which libuv watches.
        let own: SignalAction
    }

    private static let watched = LoopLock<[Int32: Watched]>([:])

    /// Starts a handle by a call of libuv.
    ///
    /// - Returns: the result of the call.
    static func begin(_ signal: Int32, _ start: () -> Int32) -> Int32 {
        watched.withLock { watched in
            let before = SignalAction(of: signal)
            let status = start()
            guard status == 0 else { return status }
            if watched[signal] != nil {
                watched[signal]?.count += 1
            } else if let before, let own = SignalAction(of: signal) {
                watched[signal] = Watched(before: before, own: own)
            }
            return 0
        }
    }

    /// Closes a handle that was started, by a call of libuv.
    static func end(_ signal: Int32, _ close: () -> Void) {
        watched.withLock { watched in
            guard let entry = watched[signal], entry.count == 1 else {
                watched[signal]?.count -= 1
                return close()
            }
            watched[signal] = nil
            let present = SignalAction(of: signal)
            close()
            // Another user of libuv in the process may watch on.
            guard let present, SignalAction(of: signal)?.isDefault == true else { return }
            // What another library has set meanwhile stays.
            if !present.hasHandler(of: entry.own) {
                present.set(for: signal)
            } else if !entry.before.hasHandler(of: entry.own) {
                entry.before.set(for: signal)
            }
        }
    }
}

/// What a signal does: a handler, its flags and its mask (sigaction(2)).
struct SignalAction: Sendable {
    /// The C library's value.
    private var bytes: [UInt8]

    /// The action of a signal at this moment; `nil` for a number that is none.
    init?(of signal: Int32) {
        bytes = [UInt8](repeating: 0, count: cqos_signal_action_size())
        guard unsafe cqos_get_signal_action(signal, &bytes) == 0 else { return nil }
    }

    /// Whether the kernel does what it does by default.
    var isDefault: Bool { unsafe cqos_is_default_action(bytes) != 0 }

    /// Whether another action calls the same function.
    func hasHandler(of other: SignalAction) -> Bool {
        unsafe cqos_have_same_handler(bytes, other.bytes) != 0
    }

    /// Makes it the action of a signal.
    func set(for signal: Int32) {
        _ = unsafe cqos_set_signal_action(signal, bytes)
    }
}
