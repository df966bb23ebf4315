internal import CLibUV
internal import Glibc

/// A handle of libuv: its memory, opening and closing.
///
/// The memory lives as long as this object. ``open(_:)`` takes a reference for libuv, and the close callback gives it
/// back. libuv does not touch the memory afterwards. So the close callback and the last other reference may come in
/// either order.
// SAFETY: `memory` is set once. What it points to is touched on the loop's thread only; before the loop runs, the
// thread that makes the loop has it to itself, and so has the thread that drops it.
@safe
class AnyLoopHandle: @unchecked Sendable {
    private let memory: UnsafeMutableRawPointer

    /// A descriptor that is closed with this object, so after its last use by libuv; `nil` for none.
    private let owned: Int32?

    /// Allocates zeroed memory; a type of 0 (`UV_UNKNOWN_HANDLE`) tells that libuv does not know the handle yet.
    init<Raw>(for type: Raw.Type, owning descriptor: Int32? = nil) {
        owned = descriptor
        let size = MemoryLayout<Raw>.stride
        unsafe memory = .allocate(byteCount: size, alignment: MemoryLayout<Raw>.alignment)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    }

    deinit {
        unsafe memory.deallocate()
        if let owned { close(owned) }
    }

    /// The handle as what it was allocated for. The loop's thread.
    func raw<Raw>(_: Raw.Type = Raw.self) -> UnsafeMutablePointer<Raw> {
        unsafe memory.assumingMemoryBound(to: Raw.self)
    }

    private var base: UnsafeMutablePointer<uv_handle_t> { unsafe raw() }

    /// Whether the handle is open in libuv. The loop's thread.
    var isOpen: Bool {
        unsafe base.pointee.type != UV_UNKNOWN_HANDLE && uv_is_closing(base) == 0
    }

    /// Opens the handle with calls that initialise and start it. Closes it again if a call fails.
    ///
    /// The loop's thread, once.
    func open(_ calls: () throws(EventLoopError) -> Void) throws(EventLoopError) {
        let reference = unsafe Unmanaged.passRetained(self)
        unsafe base.pointee.data = reference.toOpaque()
        do throws(EventLoopError) {
            try calls()
        } catch {
            if unsafe base.pointee.type == UV_UNKNOWN_HANDLE {
                unsafe reference.release()
            } else {
                closeOnLoop()
            }
            throw error
        }
    }

    /// Closes the handle; does nothing if it is closed already or was never opened. The loop's thread.
    func closeOnLoop() {
        silence()
        guard isOpen else { return }
        unsafe uv_close(base) { handle in
            guard let data = unsafe handle?.pointee.data else { return }
            unsafe Unmanaged<AnyLoopHandle>.fromOpaque(data).release()
        }
    }

    /// Stops the delivery of further events. Any thread.
    func silence() {}

    /// The object behind a handle that libuv hands to a callback. The loop's thread.
    static func behind<Raw>(_ raw: UnsafeMutablePointer<Raw>?) -> AnyLoopHandle? {
        guard let raw = unsafe raw else { return nil }
        let base = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
        guard let data = unsafe base.pointee.data else { return nil }
        return unsafe Unmanaged<AnyLoopHandle>.fromOpaque(data).takeUnretainedValue()
    }
}
