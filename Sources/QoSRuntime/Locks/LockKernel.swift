import QoSKernel

/// How locks and threads outside of schedulers ask the kernel.
enum LockKernel {
    private static let replaced = Lock<KernelProfile?>(nil)

    /// The process's, unless a test has put another one in its place.
    static var profile: KernelProfile { replaced.withLock { $0 } ?? .process }

    /// Puts another profile in the place of the process's; `nil` takes it back.
    static func replace(with profile: KernelProfile?) {
        replaced.withLock { $0 = profile }
    }
}
