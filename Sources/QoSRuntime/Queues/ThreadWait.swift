import QoSKernel

/// A thread that waits for something of a work queue.
final class ThreadWait: Sendable {
    let parker = Parker()
}
