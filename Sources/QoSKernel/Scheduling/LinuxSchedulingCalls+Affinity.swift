internal import CQoSShims
internal import Glibc

extension LinuxSchedulingCalls {
    package func setAffinity(_ processors: CPUSet, of thread: ThreadID) throws(KernelError) {
        let code = unsafe cqos_set_affinity(thread.rawValue, processors.words, processors.words.count)
        guard code == 0 else {
            throw KernelError(.setAffinity, code: code, subject: "\(thread) (processors \(processors))")
        }
    }

    package func affinity(of thread: ThreadID) throws(KernelError) -> CPUSet {
        try affinity(of: thread, firstWords: Self.usualWords)
    }

    /// Reads with a mask that doubles until the kernel's own fits.
    func affinity(of thread: ThreadID, firstWords: Int) throws(KernelError) -> CPUSet {
        var count = firstWords
        while true {
            var words = [UInt64](repeating: 0, count: count)
            let result = unsafe cqos_get_affinity(thread.rawValue, &words, count)
            if result > 0 { return CPUSet(words: words) }
            guard result == -EINVAL, count < Self.mostWords else {
                throw KernelError(.getAffinity, code: result, subject: "\(thread)")
            }
            count = max(1, count * 2)
        }
    }

    /// 1024 processors, as `cpu_set_t`.
    private static let usualWords = 16

    /// A million processors: beyond this, EINVAL means something else.
    private static let mostWords = 16_384
}
