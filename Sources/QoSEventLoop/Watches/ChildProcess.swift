internal import CLibUV

/// A child process of which this process learns the end.
///
/// Dropping or closing it neither ends the child nor leaves a zombie behind: the loop goes on waiting for the child,
/// without telling anyone. A loop that ends leaves running children alone; they are not waited for any more.
package final class ChildProcess: Sendable {
    /// The number of the process.
    package let processID: Int32

    private let loop: EventLoop
    private let handle: LoopHandle<ChildExit>

    fileprivate init(processID: Int32, loop: EventLoop, handle: LoopHandle<ChildExit>) {
        self.processID = processID
        self.loop = loop
        self.handle = handle
    }

    deinit {
        close()
    }

    /// Sends the child a signal. The loop's thread: the child is waited for there too, so the number cannot have passed
    /// to another process.
    ///
    /// - Throws: ``EventLoopError``: `notFound` when the child ended, `notOnLoopThread`, `stopped`.
    package func send(signal: Int32) throws(EventLoopError) {
        try loop.checkHandlesMayBeUsed("send")
        try loop.core.attempt(.processKill) {
            guard handle.isOpen else { return UV_ESRCH.rawValue }
            return unsafe uv_process_kill(handle.raw(), signal)
        }
    }

    /// Takes the handler away: no call of it begins after this returned. Any thread.
    package func close() {
        handle.silence()
    }
}

extension EventLoop {
    /// Starts a child process. The loop's thread.
    ///
    /// The child gets default signal actions and an empty signal mask, the three standard streams of the command, and
    /// every other descriptor of this process that is not close-on-exec. It inherits nice value, scheduling policy and
    /// affinity of the loop's thread.
    ///
    /// - Parameters:
    ///   - command: The program, its arguments, environment, directory and streams.
    ///   - handler: Called once on the loop's thread when the child ended.
    /// - Returns: The child; dropping it takes the handler away.
    /// - Throws: ``EventLoopError``: `notFound` when there is no such program or directory, `notPermitted`,
    ///   `limitReached`, `invalidArgument` when a text contains a NUL character, `notOnLoopThread`.
    package func spawn(
        _ command: ChildCommand, handler: @escaping @Sendable (ChildExit) -> Void
    ) throws(EventLoopError) -> ChildProcess {
        try checkHandlesMayBeUsed("spawn")
        let environment = command.environment?.map { "\($0.key)=\($0.value)" }
        let texts = [command.executable] + command.arguments + (environment ?? [])
        try checkHasNoNUL(texts + [command.workingDirectory ?? ""], "spawn")
        let handle = unsafe LoopHandle<ChildExit>(for: uv_process_t.self, handler: handler)
        try handle.open { () throws(EventLoopError) in
            let arguments = CStrings([command.executable] + command.arguments)
            let variables = CStrings(environment ?? [])
            let paths = CStrings([command.executable, command.workingDirectory ?? ""])
            // libuv sees only pointers into them.
            defer {
                extendLifetime(arguments)
                extendLifetime(variables)
                extendLifetime(paths)
            }
            var streams = unsafe [
                command.standardInput.container(number: 0), command.standardOutput.container(number: 1),
                command.standardError.container(number: 2),
            ]
            var options = unsafe uv_process_options_t()
            unsafe options.exit_cb = { raw, status, signal in
                guard let handle = unsafe LoopHandle<ChildExit>.of(raw) else { return }
                handle.report(ChildExit(status: status, signal: signal))
                handle.closeOnLoop()
            }
            unsafe options.file = UnsafePointer(paths.pointers[0])
            unsafe options.args = arguments.pointers
            unsafe options.env = environment == nil ? nil : variables.pointers
            unsafe options.cwd = command.workingDirectory == nil ? nil : UnsafePointer(paths.pointers[1])
            unsafe options.stdio_count = Int32(streams.count)
            try core.attempt(.spawn) {
                unsafe streams.withUnsafeMutableBufferPointer { streams in
                    unsafe options.stdio = streams.baseAddress
                    return unsafe uv_spawn(core.loop, handle.raw(), &options)
                }
            }
        }
        return unsafe ChildProcess(processID: handle.raw(uv_process_t.self).pointee.pid, loop: self, handle: handle)
    }
}

extension ChildCommand.Stream {
    /// The stream as libuv wants it, for the child's descriptor of a number.
    fileprivate func container(number: Int32) -> uv_stdio_container_t {
        var container = unsafe uv_stdio_container_t()
        switch self {
        case .inherit:
            unsafe container.flags = UV_INHERIT_FD
            unsafe container.data.fd = number
        case .null:
            // libuv opens /dev/null for standard streams that are ignored.
            unsafe container.flags = UV_IGNORE
        case .descriptor(let descriptor):
            unsafe container.flags = UV_INHERIT_FD
            unsafe container.data.fd = descriptor
        }
        return unsafe container
    }
}

/// The end of a child process.
package enum ChildExit: Sendable, Hashable {
    /// It returned, or called `exit`, with a status of 0…255.
    case exited(status: Int32)
    /// A signal ended it.
    case signalled(Int32)

    init(status: Int64, signal: Int32) {
        self = signal == 0 ? .exited(status: Int32(truncatingIfNeeded: status)) : .signalled(signal)
    }
}
