/// The handle that a watch owns. It is closed with the watch at the latest.
struct HandleLease: ~Copyable, Sendable {
    private let loop: EventLoop
    private let handle: AnyLoopHandle

    init(_ handle: AnyLoopHandle, of loop: EventLoop) {
        self.loop = loop
        self.handle = handle
    }

    /// Takes the handler away at once and closes the handle: at once on the loop's thread, else as soon as the loop
    /// gets to it. Any thread, any number of times.
    func close() {
        handle.silence()
        if loop.isOnLoopThread {
            handle.closeOnLoop()
        } else {
            // A loop that refuses the body closes all of its handles itself.
            try? loop.submit { [handle] in handle.closeOnLoop() }
        }
    }

    deinit {
        close()
    }
}
