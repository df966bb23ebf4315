internal import CQoSShims
public import Synchronization

/// Guards a value by a lock of one futex word; the shape is that of `Synchronization.Mutex`.
///
/// It exists beside `Mutex` for ThreadSanitizer. Contended threads hand a `Mutex` over inside the standard library
/// and the kernel, where the sanitizer sees nothing: it then reports each guarded value as a race. This lock's
/// hand-overs are atomic operations of this module.
///
/// The word is 0 when free, 1 when held, 2 when held and a thread may sleep. The uncontended path is one
/// compare-and-swap to lock and one exchange to unlock, no system call ("Futexes Are Tricky", Drepper 2011, the
/// second mutex). Not recursive, not fair.
///
/// `@usableFromInline` on the type lets the compiler specialize and inline its functions in other modules
/// (`Docs/Inside/Decisions/0026-inlined-locks.md`).
///
/// Threading: any thread. No user code, system call or resumption under it.
@safe
@usableFromInline
// SAFETY: the memory is allocated in `init`, freed in `deinit`, and never replaced; `value` is touched by the one that has
// changed the word from 0 only.
package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt32>>
    /// In the same allocation, behind the word.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// A free lock around a value.
    @inlinable
    package init(_ value: consuming sending Value) {
        let memory = unsafe LockMemory.make(around: value)
        unsafe word = memory.word
        unsafe self.value = memory.value
    }

    @inlinable
    deinit {
        unsafe LockMemory.free(word, value)
    }

    /// Waits for the lock, then runs a body with the value.
    @inlinable @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe LockWord.lock(word)
        defer { unsafe LockWord.unlock(word) }
        return try unsafe body(&value.pointee)
    }

    /// Runs a body with the value if the lock is free; otherwise returns `nil` at once.
    @inlinable @inline(__always)
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard unsafe LockWord.tryLock(word) else { return nil }
        defer { unsafe LockWord.unlock(word) }
        return try unsafe body(&value.pointee)
    }
}

/// The memory of a lock and its value: the word, and the value behind it in one allocation.
///
/// The functions that lock and unlock stay with each lock: they are inlined into its users.
@usableFromInline
package enum LockMemory {
    /// Allocates a free lock around a value. The caller owns the memory until ``free(_:_:)``.
    @inlinable
    package static func make<Value: ~Copyable>(
        around value: consuming sending Value
    ) -> (word: UnsafeMutablePointer<Atomic<UInt32>>, value: UnsafeMutablePointer<Value>) {
        let alignment = max(MemoryLayout<UInt>.alignment, MemoryLayout<Value>.alignment)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: alignment + MemoryLayout<Value>.size, alignment: alignment)
        // SAFETY: the value lies at the first multiple of its alignment that is behind the word.
        let word = unsafe memory.initializeMemory(as: Atomic<UInt32>.self, to: Atomic(0))
        let place = unsafe (memory + alignment).assumingMemoryBound(to: Value.self)
        unsafe place.initialize(to: value)
        return unsafe (word, place)
    }

    /// Destroys the value, and frees the memory of ``make(around:)``. No thread uses the lock any more.
    @inlinable
    package static func free<Value: ~Copyable>(
        _ word: UnsafeMutablePointer<Atomic<UInt32>>, _ value: UnsafeMutablePointer<Value>
    ) {
        unsafe value.deinitialize(count: 1)
        unsafe word.deinitialize(count: 1)
        unsafe UnsafeMutableRawPointer(word).deallocate()
    }
}

/// The operations on a lock's word. The pointer is that of a live lock.
@usableFromInline
enum LockWord {
    /// The number of looks at a contended word before the thread sleeps. They take about as long as a sleep and a
    /// wake-up.
    private static let spins = 100

    @inlinable @inline(__always)
    static func tryLock(_ word: UnsafeMutablePointer<Atomic<UInt32>>) -> Bool {
        unsafe word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
    }

    @inlinable @inline(__always)
    static func lock(_ word: UnsafeMutablePointer<Atomic<UInt32>>) {
        if unsafe !tryLock(word) { unsafe lockContended(word) }
    }

    @inlinable @inline(__always)
    static func unlock(_ word: UnsafeMutablePointer<Atomic<UInt32>>) {
        if unsafe word.pointee.exchange(0, ordering: .releasing) == 2 { unsafe wakeOne(word) }
    }

    @usableFromInline @inline(never)
    static func lockContended(_ word: UnsafeMutablePointer<Atomic<UInt32>>) {
        for _ in 0..<spins {
            cqos_spin_hint()
            if unsafe word.pointee.load(ordering: .relaxed) == 0, unsafe tryLock(word) { return }
        }
        // From here on the word says that somebody may sleep, whoever gets it: one wake-up too many, never one too few.
        while unsafe word.pointee.exchange(2, ordering: .acquiring) != 0 {
            unsafe cqos_futex_wait(futex(word), 2)
        }
    }

    @usableFromInline @inline(never)
    static func wakeOne(_ word: UnsafeMutablePointer<Atomic<UInt32>>) {
        unsafe cqos_futex_wake(futex(word), 1)
    }

    private static func futex(_ word: UnsafeMutablePointer<Atomic<UInt32>>) -> UnsafeMutablePointer<UInt32> {
        unsafe UnsafeMutableRawPointer(word).assumingMemoryBound(to: UInt32.self)
    }
}
