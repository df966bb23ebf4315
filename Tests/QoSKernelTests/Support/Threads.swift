import QoSKernel

/// Several threads that are joined together: arrays cannot hold values that are not copyable.
struct Threads: ~Copyable {
    private var last: Link?

    init() {}

    mutating func start(name: String, _ body: @escaping @Sendable () -> Void) throws(KernelError) {
        last = Link(thread: try Thread(name: name, body), next: last)
    }

    consuming func join() throws(KernelError) {
        while let link = last {
            try link.join()
            last = link.next
        }
    }

    private final class Link {
        private var thread: Thread?
        let next: Link?

        init(thread: consuming Thread, next: Link?) {
            self.thread = consume thread
            self.next = next
        }

        func join() throws(KernelError) {
            try thread.take()?.join()
        }
    }
}
