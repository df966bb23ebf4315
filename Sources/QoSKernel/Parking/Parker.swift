internal import CQoSShims
package import Synchronization

/// Lets one thread sleep until another one hands it a token.
///
/// There is one token. ``unpark()`` stores the token. ``park()`` takes it, or sleeps until it comes. Tokens do not
/// add up. One thread, the owner, parks; any thread may unpark. A `Parker` neither orders waiters nor wakes more than
/// one.
///
/// ## Protocol
/// One 32-bit word, in one of three states: `empty`, `token`, `parked`.
///
/// | who | from | to | then |
/// |---|---|---|---|
/// | owner parks | `token` | `empty` | returns, no system call |
/// | owner parks | `empty` | `parked` | sleeps while the word is `parked` |
/// | anyone unparks | `empty` | `token` | returns, no system call |
/// | anyone unparks | `token` | `token` | returns, no system call |
/// | anyone unparks | `parked` | `token` | wakes one sleeper |
/// | owner wakes | `token` | `empty` | returns |
/// | owner wakes | `parked` | `parked` | sleeps again |
/// | owner's deadline has passed | any | `empty` | returns whether there was a token |
///
/// ## Races
/// 1. *Unpark before park*: the token waits in the word; `park` takes it without sleeping.
/// 2. *Unpark between `empty → parked` and the sleep*: the kernel compares the word with `parked` under the futex's own
///    lock before it queues the thread. The word is `token` by then, so the wait returns EAGAIN at once. The wake of
///    `unpark` finds no sleeper. No wake-up is lost.
/// 3. *Two unparks at once*: the exchange lets exactly one of them see `parked`; only that one makes the system call.
/// 4. *Token and deadline at once*: the owner's exchange to `empty` decides. If the token came first it is taken and
///    `true` is returned; if not, a later `unpark` sees `empty` and its token waits for the next `park`.
/// 5. *A wake that arrives late*: the owner took the token before the waker reached its system call, and parked
///    again. The stray wake finds the word at `parked`, so the owner sleeps again: like every other spurious wake-up
///    (EINTR, EAGAIN) it costs one turn of the loop.
/// 6. *The end of the value*: an unparker borrows the value for the whole call, so the word outlives its system call.
///
/// ## Ordering
/// `unpark` releases, taking the token acquires: what a thread wrote before `unpark` is visible after the `park`
/// that took the token.
@safe
package struct Parker: ~Copyable, Sendable {
    /// The futex word, alone on its cache line. Written only by the protocol above; tests wake it without a token.
    ///
    // SAFETY: the memory is allocated in `init`, freed in `deinit`, never replaced, and only accessed atomically.
    package nonisolated(unsafe) let word: UnsafeMutablePointer<Atomic<UInt32>>

    private static let empty: UInt32 = 0
    private static let token: UInt32 = 1
    private static let parked: UInt32 = 2

    /// The distance at which two words do not disturb each other: processors fetch cache lines in pairs.
    private static let lineSize = 128

    /// A parker without a token.
    package init() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.lineSize, alignment: Self.lineSize)
        unsafe word = memory.initializeMemory(as: Atomic<UInt32>.self, to: Atomic(Self.empty))
    }

    deinit {
        unsafe word.deinitialize(count: 1)
        unsafe UnsafeMutableRawPointer(word).deallocate()
    }

    /// Stores the token, and wakes the owner if it sleeps.
    ///
    /// Any thread may call it; an atomic exchange, and a system call only if the owner is parked.
    ///
    /// - Returns: whether the owner was parked, that is, whether a system call was made.
    @discardableResult
    package borrowing func unpark() -> Bool {
        let previous = unsafe word.pointee.exchange(Self.token, ordering: .acquiringAndReleasing)
        guard previous == Self.parked else { return false }
        unsafe cqos_futex_wake(futex, 1)
        return true
    }

    /// Takes the token, sleeping until there is one.
    ///
    /// Only the owner may call it: one thread at a time.
    package borrowing func park() {
        guard !takeTokenOrAnnounce() else { return }
        repeat {
            unsafe cqos_futex_wait(futex, Self.parked)
        } while !takeToken()
    }

    /// Takes the token, sleeping until there is one or the deadline has passed.
    ///
    /// Only the owner may call it. With a deadline in the past, the call tests for the token and does not sleep.
    ///
    /// - Parameter deadline: a point on ``MonotonicClock``, in nanoseconds.
    /// - Returns: `true` if the token was taken, `false` if the deadline passed without one.
    package borrowing func park(untilNanoseconds deadline: UInt64) -> Bool {
        guard !takeTokenOrAnnounce() else { return true }
        while true {
            // The clock decides and not the wait's result, so that no error of the wait can end the sleep early; and
            // it is asked first, because a wait for a moment that has passed costs a change of threads, 18 µs.
            if MonotonicClock.nanoseconds() >= deadline {
                return unsafe word.pointee.exchange(Self.empty, ordering: .acquiring) == Self.token
            }
            _ = unsafe cqos_futex_wait_until(futex, Self.parked, deadline)
            if takeToken() { return true }
        }
    }

    /// `token → empty`, returns true; or `empty → parked`, returns false.
    private borrowing func takeTokenOrAnnounce() -> Bool {
        let (announced, found) = unsafe word.pointee.compareExchange(
            expected: Self.empty, desired: Self.parked, ordering: .acquiring)
        if announced { return false }
        assert(found == Self.token, "two threads park on one parker")
        // Nobody but the owner leaves `token`, so no exchange can come between.
        return unsafe word.pointee.exchange(Self.empty, ordering: .acquiring) == Self.token
    }

    /// `token → empty`, or nothing.
    private borrowing func takeToken() -> Bool {
        unsafe word.pointee.compareExchange(expected: Self.token, desired: Self.empty, ordering: .acquiring).exchanged
    }

    private var futex: UnsafeMutablePointer<UInt32> {
        unsafe UnsafeMutableRawPointer(word).assumingMemoryBound(to: UInt32.self)
    }
}
