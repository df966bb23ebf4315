internal import Glibc

extension KernelError {
    /// The symbolic name of the error number, `EPERM`; `errno 123` for one that no call here is known to return.
    package var codeName: String {
        Self.names[code] ?? "errno \(code)"
    }

    /// The C library's text for the error number.
    package var codeText: String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "unknown"
    }

    /// The remedy for the reader of the message, on the calling thread.
    package var remedy: String {
        // Only this number has two causes.
        code == EPERM ? remedy(in: .current) : listedRemedy
    }

    /// Returns the remedy for a thread in a state. A refusal by a seccomp filter is no missing right.
    package func remedy(in confinement: Confinement) -> String {
        guard code == EPERM, call.isSystemCall else { return listedRemedy }
        guard call.mayNeedRight else { return filterRemedy }
        guard confinement.isFiltered else { return listedRemedy }
        return confinement.maySetNice ? filterRemedy : listedRemedy + " If the right is there: " + filterRemedy
    }

    /// The most specific entry: (call, number), then the number alone, then a pointer to the manual.
    private var listedRemedy: String {
        Self.remediesByCall[call]?[code] ?? Self.remedies[code] ?? "See the manual page of \(call.rawValue)."
    }

    private var filterRemedy: String {
        call == .createThread
            ? "A seccomp filter refuses clone3: update the container runtime, or let its profile answer ENOSYS."
            : "A seccomp filter refuses \(call.rawValue): allow it in the container's profile, or in SystemCallFilter."
    }

    private static let names: [Int32: String] = [
        EPERM: "EPERM", ENOENT: "ENOENT", ESRCH: "ESRCH", EINTR: "EINTR", EIO: "EIO", E2BIG: "E2BIG",
        EAGAIN: "EAGAIN", ENOMEM: "ENOMEM", EACCES: "EACCES", EFAULT: "EFAULT", EBUSY: "EBUSY", ENODEV: "ENODEV",
        ENOTDIR: "ENOTDIR", EISDIR: "EISDIR", EINVAL: "EINVAL", EMFILE: "EMFILE", ENFILE: "ENFILE",
        ERANGE: "ERANGE", EDEADLK: "EDEADLK", ENOSYS: "ENOSYS", EBADMSG: "EBADMSG", EOPNOTSUPP: "EOPNOTSUPP",
    ]

    /// The remedy for an error number, whichever call returned it.
    private static let remedies: [Int32: String] = [
        EPERM: grant,
        EACCES: grant,
        ESRCH: "The thread has ended: drop its id.",
        EINVAL: "A value is out of the range this kernel accepts: check it against the call's documentation.",
        E2BIG: "The kernel is older than the attributes passed: use Linux 6.12 or later for all of them.",
        ENOSYS: "This kernel or a seccomp filter lacks the call: allow it in the container's profile, or go without.",
        ENOMEM: "The kernel is out of memory: reduce the load of the machine or raise the memory limit.",
        ENOENT: "This kernel does not offer the file: mount /proc and /sys, or go without.",
        EOPNOTSUPP: "The feature is switched off in this kernel: boot with it, or go without.",
        EBADMSG: "The file does not have the form the kernel gives it: check that the root path is right.",
    ]

    /// The remedy where one call gives a number a meaning of its own.
    private static let remediesByCall: [KernelCall: [Int32: String]] = [
        .createThread: [
            EAGAIN: "Too many threads: raise TasksMax, pids.max, RLIMIT_NPROC or kernel.threads-max, or use fewer.",
            EINVAL: "The stack size is unusable: give at least 16 KiB, or nil for the system's default.",
        ],
        .joinThread: [
            EDEADLK: "A thread cannot wait for its own end: join it from another thread or detach it."
        ],
        .setScheduling: [
            EINVAL: "Use nice -20…19, a slice of 100000…100000000 ns, and a real-time priority of 1…99.",
            EBUSY: "The real-time bandwidth is used up: use a fair policy (other, batch, idle).",
        ],
        .getScheduling: [
            EOPNOTSUPP: "Slices need Linux 6.12 or later: upgrade the kernel, or go without."
        ],
        .setNice: [
            EINVAL: "Use nice -20…19."
        ],
        .setIOPriority: [
            EINVAL: "Use a level of 0 (highest) to 7.",
            EPERM: "Realtime I/O needs CAP_SYS_ADMIN or CAP_SYS_NICE: use bestEffort, or grant it.",
        ],
        .setOwnTimerSlack: [
            EINVAL: "Use a timer slack of at least 1 ns."
        ],
        .setTimerSlackOfOther: [
            EPERM: "Another thread's slack needs CAP_SYS_NICE: let each thread set its own, or grant it.",
            EACCES: "Another thread's slack needs CAP_SYS_NICE: let each thread set its own, or grant it.",
        ],
        .getTimerSlackOfOther: [
            EPERM: "Another thread's slack needs CAP_SYS_NICE: let each thread read its own, or grant it.",
            EACCES: "Another thread's slack needs CAP_SYS_NICE: let each thread read its own, or grant it.",
        ],
        .setAffinity: [
            EINVAL: "None of the processors is online and allowed by the cpuset: choose from the current affinity."
        ],
        .setPressureTrigger: [
            EACCES: "Without CAP_SYS_RESOURCE, use Linux 6.6 or later and a window that is a multiple of 2 s.",
            EPERM: "Without CAP_SYS_RESOURCE, use Linux 6.6 or later and a window that is a multiple of 2 s.",
            EINVAL:
                "Without CAP_SYS_RESOURCE the window is a multiple of 2 s; with it, more than zero and at most 10 s.",
        ],
        .readFileSystem: [
            ENOENT: "There is no such path: name a file or directory on the file system.",
            EACCES: "The path is not accessible for this user: name another one on the file system.",
        ],
        .writeFile: [
            ENOENT: "There is no such directory: make it, or name another file.",
            EACCES: "This user may not write there: name another file.",
            EPERM: "This user may not write there: name another file.",
        ],
        .readFile: [
            EACCES: "The file is not readable for this user: run with the rights to read it, or go without.",
            EPERM: "The file is not readable for this user: run with the rights to read it, or go without.",
        ],
    ]

    private static let grant =
        "Grant CAP_SYS_NICE (AmbientCapabilities=CAP_SYS_NICE, --cap-add SYS_NICE) or raise RLIMIT_NICE (LimitNICE=20)."
}
