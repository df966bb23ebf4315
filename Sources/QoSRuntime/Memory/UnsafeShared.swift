/// A reference to a value in memory that threads share and that does not move. It counts nothing.
///
/// The owner of the memory keeps the value for longer than any thread uses the reference. For a worker and its pool
/// that is the ``PoolGroup``, which every worker's thread and every submitter keeps.
///
/// Threading: any thread. The value says which of its parts are for which thread; the others are atomic or locked.
// SAFETY: only `UnsafeSharedTable`, and the word in which a thread keeps its worker, make references. Their owners keep the
// memory for longer.
@safe
struct UnsafeShared<Value: ~Copyable>: @unchecked Sendable {
    let address: UnsafeMutablePointer<Value>

    @inline(__always)
    init(_ address: UnsafeMutablePointer<Value>) {
        unsafe self.address = address
    }

    /// The value, in place: a use of one property touches no other.
    var value: Value {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe address }
    }
}

extension UnsafeShared: Equatable where Value: ~Copyable {
    @inline(__always)
    static func == (one: UnsafeShared, other: UnsafeShared) -> Bool { unsafe one.address == other.address }
}
