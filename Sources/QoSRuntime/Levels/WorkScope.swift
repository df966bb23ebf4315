import CQoSShims
import QoSCore

/// The work in whose execution the calling code stands.
package enum WorkScope {
    /// For work that is a Swift task, or a part of one: its child tasks inherit it.
    @TaskLocal package static var task: (any CurrentWork)?

    /// What tells a piece of work's own task and the children of that from tasks that were started there and may outlive it: see
    /// ``ConcurrencyRuntime/placeOfBinding(of:)``. 0 outside of work that is a task.
    package static var placeOfTask: UInt { ConcurrencyRuntime.placeOfBinding(of: $task) }

    /// The innermost work of the calling thread, if it runs a synchronous body; else that of the calling task.
    package static var current: (any CurrentWork)? {
        guard let frame = unsafe cqos_current_frame() else { return task }
        if UInt(bitPattern: frame) & entryBit != 0 {
            // SAFETY: an entry that runs is kept by who runs it, on this thread.
            return unsafe Unmanaged<PoolEntry>.fromOpaque(frame - Int(entryBit)).takeUnretainedValue()
        }
        return unsafe frame.assumingMemoryBound(to: Frame.self).pointee.work
    }

    /// Says in a frame's address that it is a work queue's entry itself, whose address is even.
    private static var entryBit: UInt { 1 }

    /// Makes an entry of a work queue the calling thread's innermost work; the address that was there is put back by
    /// ``leave(for:)``.
    @inline(__always)
    static func enter(_ entry: Unmanaged<PoolEntry>) -> UnsafeMutableRawPointer? {
        let outer = unsafe cqos_current_frame()
        unsafe cqos_set_current_frame(entry.toOpaque() + Int(entryBit))
        return unsafe outer
    }

    /// Ends what ``enter(_:)`` began.
    @inline(__always)
    static func leave(for outer: UnsafeMutableRawPointer?) {
        unsafe cqos_set_current_frame(outer)
    }

    /// Runs a synchronous body as a part of a piece of work, on the calling thread.
    ///
    /// May be nested: the innermost counts. The body must not suspend, and cannot, since it is synchronous.
    package static func with<Success, Failure: Error>(
        _ work: any CurrentWork, _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        let outer = unsafe cqos_current_frame()
        var frame = Frame(work: work)
        defer { unsafe cqos_set_current_frame(outer) }
        // SAFETY: the frame outlives the body, after which the thread forgets it.
        return try unsafe withUnsafeMutablePointer(to: &frame) { (address) throws(Failure) -> Success in
            unsafe cqos_set_current_frame(UnsafeMutableRawPointer(address))
            return try body()
        }
    }

    private struct Frame {
        let work: any CurrentWork
    }
}
