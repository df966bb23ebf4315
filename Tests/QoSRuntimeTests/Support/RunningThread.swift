import QoSKernel

/// A thread of a test that can stand in an array.
final class RunningThread: Sendable {
    private let thread: Lock<QoSKernel.Thread?>

    init(name: String, _ body: @escaping @Sendable () -> Void) throws {
        thread = Lock(try QoSKernel.Thread(name: name, body))
    }

    /// Waits for its end; once.
    func join() throws {
        let ended = thread.withLock { $0.take() }
        try ended?.join()
    }
}
