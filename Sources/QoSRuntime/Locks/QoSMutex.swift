import QoSKernel
public import Synchronization

/// Guards a value by a lock for threads. The holder is raised while higher work waits (rule I2).
///
/// It has the shape of `Synchronization.Mutex`. Uncontended it costs one compare-and-swap to lock and one to unlock. A
/// thread that finds it held sleeps. The holder's thread gets the waiter's class until it unlocks. If the holder itself
/// waits, the holders before it are raised too, along any chain of mutexes and of ``AsyncMutex``. The mutex goes to the
/// highest waiter, among equals to the first. One hand-over in 16 goes to the longest waiter instead, so that no waiter
/// starves.
///
/// Use it for short sections of synchronous code. In tasks prefer ``AsyncMutex``: a pool lacks each of its threads that
/// sleeps in a lock.
///
/// Threading: any thread. Not recursive.
@safe
// SAFETY: the memory is allocated in `init`, freed in `deinit`, and never replaced; only the thread whose id is in the
// word touches `value`.
public struct QoSMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt32>>
    /// In the same allocation, behind the word.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// The mutex's name in reports and errors.
    public let name: String?

    /// Makes a free mutex around a value.
    ///
    /// - Parameters:
    ///   - value: the guarded value.
    ///   - name: for reports and errors.
    public init(_ value: consuming sending Value, name: String? = nil) {
        let memory = unsafe LockMemory.make(around: value)
        unsafe word = memory.word
        unsafe self.value = memory.value
        self.name = name
    }

    deinit {
        unsafe LockMemory.free(word, value)
    }

    /// Runs a body with the value. Blocks the thread until no other thread has the mutex.
    ///
    /// If the thread holds the mutex already, the process stops with a message.
    ///
    /// A wait can also never end if the holder waits for the thread. If another wait of the circle can throw, for
    /// example a `sync` or a `withCheckedLock`, the other one throws, and `withLock` continues. Otherwise the wait is
    /// reported to the observer (rule I5), or on standard error without one, and the thread sleeps forever. Example:
    /// the closure of a `sync` locks the mutex that the submitter holds. ``withCheckedLock(_:)`` throws instead, and
    /// ``withLockIfAvailable(_:)`` does not wait.
    @inlinable @inline(__always)
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let own = MutexWaiting.ownWord()
        if unsafe !word.pointee.compareExchange(expected: 0, desired: own, ordering: .acquiring).exchanged {
            unsafe MutexWaiting.lockForEver(word, own: own, name: name)
        }
        defer { unlock(own) }
        return try unsafe body(&value.pointee)
    }

    /// Runs a body with the value when no other thread has the mutex. Refuses a wait that could never end, also if that
    /// comes about while the thread sleeps.
    ///
    /// - Throws: ``LockError``, and the body has not run; or the body's error.
    public borrowing func withCheckedLock<Result: ~Copyable>(
        _ body: (inout sending Value) throws -> sending Result
    ) throws -> sending Result {
        let own = MutexWaiting.ownWord()
        if unsafe !word.pointee.compareExchange(expected: 0, desired: own, ordering: .acquiring).exchanged {
            try unsafe MutexWaiting.lock(word, own: own, name: name, refusesCycle: true)
        }
        defer { unlock(own) }
        return try unsafe body(&value.pointee)
    }

    /// Runs a body with the value if no thread has the mutex at this moment; otherwise returns `nil`.
    @inlinable @inline(__always)
    public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        let own = MutexWaiting.ownWord()
        guard unsafe word.pointee.compareExchange(expected: 0, desired: own, ordering: .acquiring).exchanged else {
            return nil
        }
        defer { unlock(own) }
        return try unsafe body(&value.pointee)
    }

    @inlinable @inline(__always)
    borrowing func unlock(_ own: UInt32) {
        if unsafe !word.pointee.compareExchange(expected: own, desired: 0, ordering: .releasing).exchanged {
            unsafe MutexWaiting.unlock(word, own: own)
        }
    }
}
