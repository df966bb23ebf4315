internal import Synchronization

/// Decides which thread sends the loop's wake-up, and closes the race between a wake-up and the loop's end.
///
/// One word with two bits. `pending`: a wake-up was asked for and its callback has not begun. `closed`: no further
/// wake-up is accepted.
///
/// - ``request()`` sets `pending`. Only the thread that sets it first sends (a write to the event descriptor). The
///   pending callback covers all others.
/// - ``begin()`` clears `pending`, first thing in the callback. The callback sees every write before a `request()`
///   that found `pending` set: both are read-modify-write operations on one word.
/// - ``close()`` sets `closed`. If `pending` was clear, no thread is about to send, and none will be. The loop can
///   close the handle at once. If `pending` was set, its callback still comes, and closes the handle.
///
/// So neither a lock nor a reference count is needed, and no sender ever waits.
struct WakeGate: ~Copyable, Sendable {
    private let word = Atomic<UInt8>(0)

    private static var pending: UInt8 { 1 }
    private static var closed: UInt8 { 2 }

    /// Whether the caller must send a wake-up. Any thread, wait-free.
    func request() -> Bool {
        word.bitwiseOr(Self.pending, ordering: .acquiringAndReleasing).oldValue & (Self.pending | Self.closed) == 0
    }

    /// Begins the callback that a wake-up owes. The loop's thread.
    ///
    /// - Returns: Whether the gate is closed, so that this callback is the last one.
    func begin() -> Bool {
        word.bitwiseAnd(~Self.pending, ordering: .acquiringAndReleasing).oldValue & Self.closed != 0
    }

    /// Refuses all further wake-ups. The loop's thread, once.
    ///
    /// - Returns: Whether a callback is still owed; the handle must not be closed before it began.
    func close() -> Bool {
        word.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue & Self.pending != 0
    }
}
