/// Every call by which this module changes or reads how a thread is scheduled: the one seam for injecting failures.
///
/// ``LinuxSchedulingCalls`` makes the real calls. Any thread may make any call, for any thread of this process. The
/// kernel allows or refuses each call on its own; the error has the call's name. A thread that has ended fails with
/// ESRCH. Values out of range fail with EINVAL: no call clamps silently.
package protocol SchedulingCalls: Sendable {
    /// Starts a joinable thread with Dispatch's signal mask (`cqos_guests_thread_mask`), SIGABRT open as well (pthread_create(3)).
    ///
    /// It inherits nothing from a calling thread that is lowered or bound (``LibraryThreads``).
    ///
    /// - Parameter stackSize: bytes, or `nil` for the system's default.
    func createThread(
        stackSize: Int?, _ body: @escaping @Sendable () -> Void
    ) throws(KernelError) -> ThreadHandle

    /// Sets policy, nice and slice together (sched_setattr(2)); 1.5 µs.
    ///
    /// Unprivileged, nice only goes up in value, and no way leads out of `idle` (EPERM).
    func setScheduling(_ scheduling: Scheduling, of thread: ThreadID) throws(KernelError)

    /// Reads policy, nice and slice (sched_getattr(2)).
    func scheduling(of thread: ThreadID) throws(KernelError) -> Scheduling

    /// Sets nice alone and keeps policy and slice (setpriority(2)); 0.6 µs. Unprivileged, lowering it is EACCES.
    func setNice(_ nice: Int, of thread: ThreadID) throws(KernelError)

    /// Reads nice (getpriority(2)).
    func nice(of thread: ThreadID) throws(KernelError) -> Int

    /// Sets the I/O class and level (ioprio_set(2)); 0.3 µs.
    func setIOPriority(_ priority: IOPriority, of thread: ThreadID) throws(KernelError)

    /// Reads the I/O class and level (ioprio_get(2)).
    func ioPriority(of thread: ThreadID) throws(KernelError) -> IOPriority

    /// Sets by how much the kernel may delay a thread's timers, in nanoseconds, at least 1.
    ///
    /// For the calling thread by prctl(2), PR_SET_TIMERSLACK; for another one through `/proc/<tid>/timerslack_ns`,
    /// which needs CAP_SYS_NICE.
    func setTimerSlack(nanoseconds: UInt64, of thread: ThreadID) throws(KernelError)

    /// Reads the timer slack in nanoseconds; another thread's needs CAP_SYS_NICE.
    func timerSlack(of thread: ThreadID) throws(KernelError) -> UInt64

    /// Sets the processors a thread may run on (sched_setaffinity(2)).
    ///
    /// The kernel leaves out processors that do not exist or that the cpuset forbids. EINVAL if none remains.
    func setAffinity(_ processors: CPUSet, of thread: ThreadID) throws(KernelError)

    /// Reads the processors a thread may run on, however many the machine has (sched_getaffinity(2)).
    func affinity(of thread: ThreadID) throws(KernelError) -> CPUSet

    /// Names a thread: prctl(2), PR_SET_NAME, for the calling one, `/proc/self/task/<tid>/comm` for another.
    func setName(_ name: ThreadName, of thread: ThreadID) throws(KernelError)

    /// Reads a thread's name from `/proc/self/task/<tid>/comm`.
    func name(of thread: ThreadID) throws(KernelError) -> String
}
