import Glibc
import QoSRuntime
import Synchronization

/// A lock around a number, whichever it is.
protocol MeasuredLock: AnyObject, Sendable {
    /// Adds one under the lock.
    func add()

    /// Runs a body under the lock.
    func with(_ body: () -> Void)
}

/// Ours.
final class OurLock: MeasuredLock {
    private let lock = QoSMutex(0)

    @inline(__always)
    func add() { lock.withLock { $0 &+= 1 } }

    func with(_ body: () -> Void) { lock.withLock { _ in body() } }
}

/// The standard library's.
final class StandardLock: MeasuredLock {
    private let lock = Mutex(0)

    @inline(__always)
    func add() { lock.withLock { $0 &+= 1 } }

    func with(_ body: () -> Void) { lock.withLock { _ in body() } }
}

/// The C library's.
// SAFETY: `number` is touched under the lock only, which is made in `init` and ends in `deinit`.
@safe
final class PThreadLock: MeasuredLock, @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var number = 0

    init() {
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(lock, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
    }

    @inline(__always)
    func add() {
        unsafe pthread_mutex_lock(lock)
        number &+= 1
        unsafe pthread_mutex_unlock(lock)
    }

    func with(_ body: () -> Void) {
        unsafe pthread_mutex_lock(lock)
        body()
        unsafe pthread_mutex_unlock(lock)
    }
}
