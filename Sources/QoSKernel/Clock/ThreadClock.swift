internal import CQoSShims
internal import Glibc

/// The processor time and state of a thread.
package enum ThreadClock {
    /// The processor time of a thread of this process, in nanoseconds; `nil` for one that has ended.
    ///
    /// Any thread; one system call, some 300 ns (clock_getcpuclockid(3)). The kernel's number of a thread's clock is
    /// the complement of the thread's id, with the bits for "of a thread, in nanoseconds".
    package static func nanoseconds(of thread: ThreadID) -> UInt64? {
        let clock = clockid_t((~thread.rawValue << 3) | 6)
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
        return UInt64(clamping: time.clampedNanoseconds)
    }

    /// The processor time of all threads of this process so far, in nanoseconds.
    ///
    /// Any thread; one system call, O(threads), some 0.1 µs each. The time of a thread that runs on another processor
    /// may be late by a tick of the kernel. Source: clock_gettime(2).
    package static func nanosecondsOfProcess() -> UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Returns the time that a thread of this process has run, and the time that it waited for a processor, in
    /// nanoseconds.
    ///
    /// `nil` if the thread has ended or the kernel does not count. Some 5 µs. Source: `schedstat` of a task, in the
    /// kernel's `Documentation/scheduler/sched-stats`.
    package static func ranAndWaited(_ thread: ThreadID, root: FileRoot = .real) -> (ran: UInt64, waited: UInt64)? {
        let path = root.appending("/proc/self/task/\(thread.rawValue)/schedstat")
        guard let fields = try? KernelFile.read(path).split(whereSeparator: \.isWhitespace), fields.count >= 2,
            let ran = UInt64(fields[0]), let waited = UInt64(fields[1])
        else { return nil }
        return (ran, waited)
    }

    /// Returns whether a thread of this process waits in futex(2), as for a lock or a semaphore.
    ///
    /// `false` if the kernel does not say. Some 5 µs. Source: proc(5), `syscall`.
    package static func waitsForLock(_ thread: ThreadID, root: FileRoot = .real) -> Bool {
        let path = root.appending("/proc/self/task/\(thread.rawValue)/syscall")
        guard let text = try? KernelFile.read(path) else { return false }
        return text.prefix { $0 != " " } == "\(cqos_futex_number())"
    }

    /// Returns whether a thread of this process sleeps in the kernel, interruptibly or not.
    ///
    /// `nil` if the thread has ended. Some 5 µs. Source: proc(5), state S or D in `stat`.
    package static func isAsleep(_ thread: ThreadID, root: FileRoot = .real) -> Bool? {
        let path = root.appending("/proc/self/task/\(thread.rawValue)/stat")
        guard let text = try? KernelFile.read(path), let name = text.lastIndex(of: ")") else { return nil }
        let state = text[text.index(after: name)...].first { $0 != " " }
        return state == "S" || state == "D"
    }
}
