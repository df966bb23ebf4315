import Glibc
import Synchronization

/// Signals for tests that interrupt a sleeping thread.
enum Signals {
    private static let handled = Atomic<Int>(0)

    /// Counts the signal's deliveries; the result reads the count.
    static func install(_ number: Int32) -> @Sendable () -> Int {
        signal(number) { _ in Signals.handled.add(1, ordering: .relaxed) }
        return { handled.load(ordering: .relaxed) }
    }

    /// Lets the calling thread receive the signal.
    static func unblock(_ number: Int32) {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    /// Sends the signal to one thread of this process.
    static func send(_ number: Int32, to thread: pthread_t) {
        pthread_kill(thread, number)
    }
}
