/// The causes for which the kernel may refuse a call to a thread: a seccomp filter, or a missing right.
///
/// Both answer EPERM. Only the state of the thread tells them apart (proc_pid_status(5), seccomp(2)).
package struct Confinement: Sendable, Hashable {
    /// Whether a seccomp filter judges the thread's calls. Containers have one, and services with a
    /// `SystemCallFilter`.
    package let isFiltered: Bool
    /// Whether the thread has CAP_SYS_NICE.
    package let maySetNice: Bool

    /// Describes a state.
    package init(isFiltered: Bool, maySetNice: Bool) {
        (self.isFiltered, self.maySetNice) = (isFiltered, maySetNice)
    }

    /// Reads the text of a `status` file. A missing line counts as no filter, and as no right.
    package init(status: some StringProtocol) {
        var (isFiltered, maySetNice) = (false, false)
        for line in status.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1).map { String($0.filter { !$0.isWhitespace }) }
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "Seccomp": isFiltered = parts[1] == "2"
            case "CapEff": maySetNice = (UInt64(parts[1], radix: 16) ?? 0) & 1 << UInt64(Self.sysNice) != 0
            default: break
            }
        }
        self.init(isFiltered: isFiltered, maySetNice: maySetNice)
    }

    /// The state of the calling thread. Reads a file. Without `/proc`, no filter and no right is known.
    package static var current: Confinement {
        Confinement(status: (try? KernelFile.read("/proc/thread-self/status")) ?? "")
    }

    /// The number of CAP_SYS_NICE (capabilities(7)).
    private static let sysNice = 23
}
