import CQoSShims
import QoSCore

/// The work that the calling code belongs to.
package enum WorkScope {
    /// The work that is a Swift task, or a part of one. Child tasks inherit it.
    @TaskLocal package static var task: (any CurrentWork)?

    /// The place of the binding, which distinguishes two kinds of tasks: the work's own task with its children, and
    /// tasks that were started there and may outlive it. See ``ConcurrencyRuntime/placeOfBinding(of:)``. 0 outside of
    /// work that is a task.
    package static var placeOfTask: UInt { ConcurrencyRuntime.placeOfBinding(of: $task) }

    /// The innermost work of the calling thread, if the thread runs a synchronous body; otherwise that of the calling
    /// task.
    package static var current: (any CurrentWork)? {
        guard let frame = unsafe cqos_current_frame() else { return task }
        if UInt(bitPattern: frame) & entryBit != 0 {
            // SAFETY: the code that runs an entry keeps it alive, on this thread.
            return unsafe Unmanaged<PoolEntry>.fromOpaque(frame - Int(entryBit)).takeUnretainedValue()
        }
        return unsafe frame.assumingMemoryBound(to: Frame.self).pointee.work
    }

    /// The bit in a frame's address that marks a work queue's entry. The address of an entry is even.
    private static var entryBit: UInt { 1 }

    /// Makes an entry of a work queue the calling thread's innermost work. Returns the previous address, which
    /// ``leave(for:)`` puts back.
    @inline(__always)
    static func enter(_ entry: Unmanaged<PoolEntry>) -> UnsafeMutableRawPointer? {
        let outer = unsafe cqos_current_frame()
        unsafe cqos_set_current_frame(entry.toOpaque() + Int(entryBit))
        return unsafe outer
    }

    /// Ends the scope that ``enter(_:)`` began.
    @inline(__always)
    static func leave(for outer: UnsafeMutableRawPointer?) {
        unsafe cqos_set_current_frame(outer)
    }

    /// Runs a synchronous body as a part of a piece of work, on the calling thread.
    ///
    /// Calls may be nested: the innermost counts. The body cannot suspend, because it is synchronous.
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
