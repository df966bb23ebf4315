internal import Glibc

/// A descriptor that reports pressure while it lasts, at most once in a window (the kernel's
/// `Documentation/accounting/psi.rst`).
///
/// Wait for `POLLPRI` on ``descriptor`` with poll(2). `POLLERR` means that the source has gone.
///
/// With CAP_SYS_RESOURCE the window is at most 10 s. Without it, since Linux 6.6, the window is a multiple of 2 s.
package struct PressureTrigger: ~Copyable, Sendable {
    /// The descriptor; closed with the value.
    package let descriptor: Int32

    /// Asks the kernel for a trigger.
    ///
    /// - Parameters:
    ///   - resource: the resource that threads wait for.
    ///   - stall: the time of a window in which at least one thread waits; more than zero, at most the window.
    ///   - window: the time over which stalls are added up.
    ///   - root: where `proc` is.
    /// - Throws: ENOENT without pressure information, EOPNOTSUPP when it is switched off, EACCES, EPERM or EINVAL when
    ///   this process may not have this trigger.
    package init(
        _ resource: PressureReader.Resource, stall: Duration, window: Duration = .seconds(2), root: FileRoot = .real
    ) throws(KernelError) {
        let path = root.appending("/proc/pressure/\(resource.rawValue)")
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw KernelError(.setPressureTrigger, code: errno, subject: path) }
        // The kernel overwrites the last byte with the end of the text.
        let text = Array("some \(Self.microseconds(stall)) \(Self.microseconds(window))".utf8) + [0]
        guard unsafe write(descriptor, text, text.count) == text.count else {
            let code = errno
            close(descriptor)
            throw KernelError(.setPressureTrigger, code: code, subject: path)
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return max(0, seconds) &* 1_000_000 &+ attoseconds / 1_000_000_000_000
    }
}
