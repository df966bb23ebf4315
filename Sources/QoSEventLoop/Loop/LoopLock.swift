internal import CLibUV

/// Guards a value by a libuv mutex; the shape is that of `Synchronization.Mutex`.
///
/// ThreadSanitizer knows the functions behind it. Contended threads hand a `Mutex` over inside the standard library
/// and the kernel, where the sanitizer sees nothing: it then reports each guarded value as a race. The lock of
/// `QoSKernel` is out of reach: the loop depends on nothing but libuv.
///
/// Not recursive. Threading: any thread. No user code under it.
// SAFETY: the memory is allocated in `init`, freed in `deinit`, and never replaced; `value` is touched with the mutex held only.
@safe
struct LoopLock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<uv_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// A free lock around a value.
    init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        // It fails for want of memory only, and then the process ends as it does where Swift itself has none.
        let code = unsafe uv_mutex_init(mutex)
        precondition(code == 0, "uv_mutex_init failed with \(code): the process has no memory left")
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
        unsafe uv_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Waits for the lock, then runs a body with the value.
    borrowing func withLock<Result: ~Copyable>(_ body: (inout sending Value) -> sending Result) -> sending Result {
        unsafe uv_mutex_lock(mutex)
        defer { unsafe uv_mutex_unlock(mutex) }
        return unsafe body(&value.pointee)
    }
}
