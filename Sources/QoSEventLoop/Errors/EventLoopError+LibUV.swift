internal import CLibUV

// The one place that knows what libuv's error numbers mean for the calls that this module makes.

extension EventLoopError {
    /// Makes an error from the negative number that a call of libuv returned.
    init(_ call: LoopCall, status: Int32) {
        let (code, remedy) = Self.meaning(of: status, from: call)
        let name = unsafe String(cString: uv_err_name(status))
        let message = unsafe String(cString: uv_strerror(status))
        self.init(code: code, call: call.rawValue, name: name, message: message, remedy: remedy)
    }

    /// Makes an error from the negative number that libuv reports for a watched descriptor.
    static func descriptorFailed(status: Int32) -> EventLoopError {
        // The number is always that of EBADF: libuv tells of POLLERR in this way.
        EventLoopError(
            code: .other, call: "poll", name: unsafe String(cString: uv_err_name(status)),
            message: "the descriptor is in an error state, as when the reader of a pipe is gone",
            remedy: "read or write it to learn the error, and end the watch"
        )
    }

    private static func meaning(of status: Int32, from call: LoopCall) -> (Code, String) {
        switch uv_errno_t(status) {
        case UV_ENOSPC where call == .fileEventStart:
            (
                .limitReached,
                "raise the number of watched files: sysctl fs.inotify.max_user_watches=524288, or watch fewer directories"
            )
        case UV_EMFILE where call == .fileEventStart:
            (.limitReached, "raise the limits: sysctl fs.inotify.max_user_instances=1024, and ulimit -n")
        case UV_EMFILE:
            (.limitReached, "raise the limit of open descriptors (ulimit -n, LimitNOFILE=) or close some")
        case UV_ENFILE:
            (.limitReached, "raise the system's limit of open files: sysctl fs.file-max")
        case UV_EAGAIN where call == .spawn:
            (.limitReached, "raise the limit of processes (ulimit -u, TasksMax=) or start fewer")
        case UV_ENOMEM, UV_ENOSPC, UV_EAGAIN:
            (.limitReached, "free memory, or raise the memory limit of the process")
        case UV_ENOENT where call == .spawn:
            (.notFound, "check the path of the program, of its interpreter and of the working directory")
        case UV_ENOENT, UV_ENOTDIR:
            (.notFound, "check that the path exists")
        case UV_ESRCH:
            (.notFound, "the process ended already; nothing is to be done")
        case UV_EACCES where call == .spawn:
            (.notPermitted, "make the program executable for this user")
        case UV_EPERM where call == .pollStart || call == .pollInit:
            (.notPermitted, "watch pipes, sockets or other descriptors that can be polled; regular files cannot")
        case UV_EACCES, UV_EPERM:
            (.notPermitted, "run as a user that may do this, or change the permissions")
        case UV_EEXIST:
            (.alreadyWatched, "use the existing watch, or watch a duplicate of the descriptor (dup)")
        case UV_EBADF:
            (.invalidArgument, "pass a descriptor that is open, and close its watch before closing it")
        case UV_EINVAL where call == .signalStart:
            (.invalidArgument, "use the number of a signal that can be caught; SIGKILL and SIGSTOP cannot")
        case UV_EINVAL:
            (.invalidArgument, "check the arguments")
        case UV_EBUSY where call == .loopClose:
            (.other, "a handle of the loop is still open: this is a defect of the event loop, please report it")
        default:
            (.other, "look the name up in the call's manual page")
        }
    }
}
