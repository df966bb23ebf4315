/// A call into libuv or the kernel that can fail; the raw value is its name.
package enum LoopCall: String, Sendable, Hashable, CaseIterable {
    case loopInit = "uv_loop_init"
    case loopClose = "uv_loop_close"
    case eventCreate = "eventfd"
    case timerCreate = "timerfd_create"
    case duplicate = "fcntl"
    case pollInit = "uv_poll_init"
    case pollStart = "uv_poll_start"
    case signalInit = "uv_signal_init"
    case signalStart = "uv_signal_start"
    case fileEventInit = "uv_fs_event_init"
    case fileEventStart = "uv_fs_event_start"
    case spawn = "uv_spawn"
    case processKill = "uv_process_kill"

    /// Replaces the outcome of a call, for tests of what happens when it fails.
    ///
    /// Asked before each call; a negative error number of libuv makes the call fail with it without being made, 0 lets
    /// it be made.
    package typealias Fault = @Sendable (LoopCall) -> Int32
}
