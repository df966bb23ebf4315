/// A call into the kernel or the C library that can fail on its own.
///
/// The raw value is the name under which the manual describes the call.
package enum KernelCall: String, Sendable, Hashable, CaseIterable {
    /// Starts a thread.
    case createThread = "pthread_create"
    /// Waits for the end of a thread.
    case joinThread = "pthread_join"
    /// Sets policy, nice and slice in one call.
    case setScheduling = "sched_setattr"
    /// Reads policy, nice and slice.
    case getScheduling = "sched_getattr"
    /// Sets nice alone; keeps policy and slice.
    case setNice = "setpriority"
    /// Reads nice alone.
    case getNice = "getpriority"
    /// Sets the I/O class and level.
    case setIOPriority = "ioprio_set"
    /// Reads the I/O class and level.
    case getIOPriority = "ioprio_get"
    /// Sets the calling thread's own timer slack.
    case setOwnTimerSlack = "prctl(PR_SET_TIMERSLACK)"
    /// Reads the calling thread's own timer slack.
    case getOwnTimerSlack = "prctl(PR_GET_TIMERSLACK)"
    /// Sets another thread's timer slack, through `/proc/<tid>/timerslack_ns`.
    case setTimerSlackOfOther = "write(timerslack_ns)"
    /// Reads another thread's timer slack, through `/proc/<tid>/timerslack_ns`.
    case getTimerSlackOfOther = "read(timerslack_ns)"
    /// Sets the processors a thread may run on.
    case setAffinity = "sched_setaffinity"
    /// Reads the processors a thread may run on.
    case getAffinity = "sched_getaffinity"
    /// Names a thread: `prctl(PR_SET_NAME)` for oneself, `/proc/self/task/<tid>/comm` for a sibling.
    case setName = "prctl(PR_SET_NAME)"
    /// Reads a thread's name from `/proc/self/task/<tid>/comm`.
    case getName = "read(comm)"
    /// Reads a file of `/proc` or `/sys`.
    case readFile = "read"
    /// Writes a file.
    case writeFile = "write"
    /// Lists a directory of `/proc` or `/sys`.
    case readDirectory = "readdir"
    /// Reads the free space of a file system.
    case readFileSystem = "statvfs"
    /// Makes an event descriptor.
    case makeEvent = "eventfd"
    /// Makes two sockets that are connected.
    case makePipe = "socketpair"
    /// Starts a program.
    case startProgram = "posix_spawn"
    /// Asks the kernel to tell of pressure.
    case setPressureTrigger = "write(pressure)"

    /// Whether a seccomp filter may answer the call itself. The other calls go through files, which filters let pass.
    var isSystemCall: Bool {
        switch self {
        case .setTimerSlackOfOther, .getTimerSlackOfOther, .getName, .readFile, .writeFile, .readDirectory,
            .readFileSystem, .setPressureTrigger, .joinThread:
            false
        default: true
        }
    }

    /// Whether the kernel may want a right for the call on a thread of the same process.
    var mayNeedRight: Bool {
        switch self {
        case .setScheduling, .setNice, .setIOPriority, .startProgram: true
        default: false
        }
    }
}
