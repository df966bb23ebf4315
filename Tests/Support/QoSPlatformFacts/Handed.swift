import Dispatch
import QoSKernel

/// A value that one thread hands to another, which blocks until then; no scheduler knows of the wait, so it raises no
/// thread.
final class Handed<Value: Sendable>: Sendable {
    private struct NeverCame: Error {}

    private let value = Lock<Value?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    /// Hands the value over, once.
    func hand(_ value: Value) {
        self.value.withLock { $0 = value }
        arrived.signal()
    }

    /// Waits for the value. The limit turns a hang into an error.
    func taken() throws -> Value {
        guard arrived.wait(timeout: .now() + 60) == .success, let value = value.withLock({ $0 }) else {
            throw NeverCame()
        }
        return value
    }
}
