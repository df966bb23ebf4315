/// The kernel's own scheduling calls.
package struct LinuxSchedulingCalls: SchedulingCalls {
    /// The mount point of the proc filesystem, for the names and timer slack of sibling threads.
    package let procRoot: String

    /// - Parameter procRoot: where the proc filesystem is mounted.
    package init(procRoot: String = "/proc") {
        self.procRoot = procRoot
    }
}
