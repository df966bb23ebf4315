import QoSKernel

/// A parker that several closures can hold.
final class Gate: Sendable {
    private let parker = Parker()

    /// Waits for ``open()``, once.
    func wait() { parker.park() }

    /// Lets the waiting thread, or the next one to wait, pass.
    func open() { parker.unpark() }
}
