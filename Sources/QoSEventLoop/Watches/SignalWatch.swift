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
