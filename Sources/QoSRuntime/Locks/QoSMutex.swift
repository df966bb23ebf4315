public import Synchronization

/// Guards a value by a lock for threads whose holder is raised while something higher waits for it (rule I2).
///
/// The shape is that of `Synchronization.Mutex`. Uncontended it costs one compare-and-swap to lock and one to unlock. Who finds it
/// held sleeps; the holder's thread gets the waiter's class until it unlocks, and so does whoever the holder waits for itself,
/// along any chain of mutexes and of ``AsyncMutex``. It goes to the highest waiter, among equals to the first.
///
/// Use it for short sections of synchronous code. In tasks prefer ``AsyncMutex``: a thread of a pool that sleeps in a lock is missing
/// in its pool.
///
/// Threading: any thread. Not recursive.
///
/// SAFETY: the memory is allocated in `init`, freed in `deinit`, and never replaced; `value` is touched by the one whose id is in
/// the word only.
@safe
public struct QoSMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt32>>
    /// In the same allocation, behind the word.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// What reports and errors call it.
    public let name: String?

    /// A free mutex around a value.
    ///
    /// - Parameters:
    ///   - value: the guarded value.
    ///   - name: for reports and errors.
    public init(_ value: consuming sending Value, name: String? = nil) {
        let alignment = max(MemoryLayout<UInt>.alignment, MemoryLayout<Value>.alignment)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: alignment + MemoryLayout<Value>.size, alignment: alignment)
        unsafe word = memory.initializeMemory(as: Atomic<UInt32>.self, to: Atomic(0))
        unsafe self.value = (memory + alignment).assumingMemoryBound(to: Value.self)
        unsafe self.value.initialize(to: value)
        self.name = name
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe word.deinitialize(count: 1)
        unsafe UnsafeMutableRawPointer(word).deallocate()
    }

    /// Runs a body with the value, when nobody else has it; waits for that.
    ///
    /// A wait that can never end, since the thread holds the mutex already or the holder waits for it, is reported to who listens
    /// (rule I5), and does not end; ``withCheckedLock(_:)`` throws instead.
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

    /// Runs a body with the value, when nobody else has it; a wait that could never end is refused.
    ///
    /// - Throws: ``LockError``, and nothing was run; or what the body throws.
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

    /// Runs a body with the value if nobody else has it at this moment; `nil` otherwise.
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
