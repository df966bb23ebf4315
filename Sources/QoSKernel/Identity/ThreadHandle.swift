internal import Glibc

/// The C library's handle of a joinable thread, as ``SchedulingCalls/createThread(stackSize:_:)`` returns it.
///
/// It is good for exactly one `join` or `detach`; ``Thread`` sees to that.
package struct ThreadHandle: Sendable {
    private let raw: pthread_t

    init(_ raw: pthread_t) {
        self.raw = raw
    }

    /// Waits for the thread's end; returns 0 or an error number (pthread_join(3)).
    func join() -> Int32 {
        pthread_join(raw, nil)
    }

    /// Lets the thread's resources go with its end. It cannot fail on a handle that is neither joined nor detached.
    func detach() {
        pthread_detach(raw)
    }
}
