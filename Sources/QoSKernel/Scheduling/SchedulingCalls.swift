/// Every call by which this module changes or reads how a thread is scheduled: the one seam for injecting failures.
///
/// ``LinuxSchedulingCalls`` is the real one. Any thread may call any of it.
package protocol SchedulingCalls: Sendable {
    /// Starts a joinable thread with all signals blocked but those of its own faults (pthread_create(3)).
    ///
    /// - Parameter stackSize: bytes, or `nil` for the system's default.
    func createThread(
        stackSize: Int?, _ body: @escaping @Sendable () -> Void
    ) throws(KernelError) -> ThreadHandle

    /// Names a thread of this process.
    func setName(_ name: ThreadName, of thread: ThreadID) throws(KernelError)
}
