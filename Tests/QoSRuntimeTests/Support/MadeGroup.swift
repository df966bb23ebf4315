import QoSFileTestSupport
import QoSKernel

/// A control group in a directory, with a quota that a test can change; removed with the value.
final class MadeGroup: Sendable {
    private let folder: TemporaryFolder

    var root: FileRoot { FileRoot(folder.path) }

    init() throws {
        folder = try TemporaryFolder("qos-group")
        try folder.write("proc/self/cgroup", "0::/group\n")
        try folder.write("sys/fs/cgroup/cgroup.procs")
        try setQuota("max 100000")
    }

    /// - Parameter content: of `cpu.max`.
    func setQuota(_ content: String) throws {
        try folder.write("sys/fs/cgroup/group/cpu.max", content + "\n", isReplaced: true)
    }
}
