internal import CLibUV
internal import Glibc

/// Tells when a descriptor is ready, while it exists.
///
/// The descriptor is not owned: end the watch before closing it. It is set to non-blocking mode. Readiness is a level:
/// the handler is called again until the descriptor is no longer ready. After a failure the watch is paused.
package final class DescriptorWatch: Sendable {
    /// The handler's argument: the descriptor's readiness, or its failure.
    package typealias Outcome = Result<DescriptorEvents, EventLoopError>

    /// The descriptor.
    package let descriptor: Int32

    private let loop: EventLoop
    private let handle: LoopHandle<Outcome>
    private let lease: HandleLease

    fileprivate init(descriptor: Int32, loop: EventLoop, handle: LoopHandle<Outcome>) {
        self.descriptor = descriptor
        self.loop = loop
        self.handle = handle
        lease = HandleLease(handle, of: loop)
    }

    /// Replaces the events that are watched; an empty set pauses the watch. Does nothing once it is closed. The loop's
    /// thread.
    ///
    /// - Throws: ``EventLoopError`` when the call is made on another thread or the loop ended.
    package func update(_ events: DescriptorEvents) throws(EventLoopError) {
        try loop.checkHandlesMayBeUsed("update")
        if handle.isOpen {
            try loop.start(handle, events)
        }
    }

    /// Ends the watch; dropping the last reference does it too. Any thread.
    ///
    /// On the loop's thread: no call of the handler comes after this returned. On another: none begins after this
    /// returned, one that began may still run; to close the descriptor safely, do both on the loop's thread.
    package func close() {
        lease.close()
    }
}

extension EventLoop {
    /// Watches a descriptor that can be polled: pipe, socket, terminal, event descriptor. The loop's thread.
    ///
    /// - Parameters:
    ///   - descriptor: An open descriptor that this loop does not watch yet.
    ///   - events: What to wait for.
    ///   - handler: Called on the loop's thread with what the descriptor is ready for, or with a failure, after which
    ///     the watch is paused.
    /// - Returns: The watch; it ends when this is dropped, and when the loop ends.
    /// - Throws: ``EventLoopError`` when the descriptor is closed, is a regular file, or is watched already, or the
    ///   call is made on another thread.
    package func watchDescriptor(
        _ descriptor: Int32, for events: DescriptorEvents,
        handler: @escaping @Sendable (DescriptorWatch.Outcome) -> Void
    ) throws(EventLoopError) -> DescriptorWatch {
        try checkHandlesMayBeUsed("watchDescriptor")
        let handle = unsafe LoopHandle<DescriptorWatch.Outcome>(for: uv_poll_t.self, handler: handler)
        return try watch(descriptor, for: events, handle)
    }

    /// Watches a copy of a descriptor, which is closed after the watch. The loop's thread.
    ///
    /// The original may be closed at any time, and be watched more than once. libuv ends the process when another
    /// thread closes a descriptor that libuv watches or is about to watch (`uv__io_poll`).
    ///
    /// - Parameters: As for ``watchDescriptor(_:for:handler:)``.
    /// - Throws: As there; ``EventLoopError`` with `limitReached` when the process has no descriptor left.
    package func watchCopy(
        of descriptor: Int32, for events: DescriptorEvents,
        handler: @escaping @Sendable (DescriptorWatch.Outcome) -> Void
    ) throws(EventLoopError) -> DescriptorWatch {
        try checkHandlesMayBeUsed("watchCopy")
        let copy = try core.attempt(.duplicate) {
            let result = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            return result < 0 ? -errno : result
        }
        let handle = unsafe LoopHandle<DescriptorWatch.Outcome>(for: uv_poll_t.self, owning: copy, handler: handler)
        return try watch(copy, for: events, handle)
    }

    private func watch(
        _ descriptor: Int32, for events: DescriptorEvents, _ handle: LoopHandle<DescriptorWatch.Outcome>
    ) throws(EventLoopError) -> DescriptorWatch {
        try handle.open { () throws(EventLoopError) in
            try core.attempt(.pollInit) { unsafe uv_poll_init(core.loop, handle.raw(), descriptor) }
            try start(handle, events)
        }
        return DescriptorWatch(descriptor: descriptor, loop: self, handle: handle)
    }

    fileprivate func start(
        _ handle: LoopHandle<DescriptorWatch.Outcome>, _ events: DescriptorEvents
    ) throws(EventLoopError) {
        try core.attempt(.pollStart) {
            unsafe uv_poll_start(handle.raw(), events.rawValue) { raw, status, events in
                unsafe LoopHandle<DescriptorWatch.Outcome>.of(raw)?.report(
                    status < 0
                        ? .failure(.descriptorFailed(status: status)) : .success(DescriptorEvents(rawValue: events)))
            }
        }
    }
}

/// The kinds of readiness of a descriptor.
package struct DescriptorEvents: OptionSet, Sendable, Hashable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// It can be read without blocking, or its end was reached.
    package static let readable = DescriptorEvents(rawValue: Int32(UV_READABLE.rawValue))
    /// It can be written without blocking.
    package static let writable = DescriptorEvents(rawValue: Int32(UV_WRITABLE.rawValue))
    /// The peer of a socket closed its writing side.
    package static let disconnected = DescriptorEvents(rawValue: Int32(UV_DISCONNECT.rawValue))
    /// Out-of-band data of a socket, or an event of a file of the kernel such as a pressure trigger (`POLLPRI`).
    package static let priority = DescriptorEvents(rawValue: Int32(UV_PRIORITIZED.rawValue))
}
