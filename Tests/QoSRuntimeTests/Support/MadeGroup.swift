import Foundation
import QoSKernel

/// A control group in a directory, with a quota that a test can change; removed with the value.
final class MadeGroup: Sendable {
    private let directory: URL

    var root: FileRoot { FileRoot(directory.path) }

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("qos-group-\(UUID().uuidString)", isDirectory: true)
        try write("0::/group\n", to: "proc/self/cgroup")
        try write("", to: "sys/fs/cgroup/cgroup.procs")
        try setQuota("max 100000")
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    /// - Parameter content: of `cpu.max`.
    func setQuota(_ content: String) throws {
        try write(content + "\n", to: "sys/fs/cgroup/group/cpu.max")
    }

    private func write(_ content: String, to path: String) throws {
        let file = directory.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content.utf8).write(to: file, options: .atomic)
    }
}
