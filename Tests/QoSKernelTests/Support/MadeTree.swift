import Foundation
import QoSFileTestSupport
import QoSKernel

/// A directory with files that stand for the kernel's; removed with the value.
final class MadeTree {
    private let folder: TemporaryFolder

    /// - Parameter files: contents by path as on a real machine, `/proc/self/cgroup`.
    init(_ files: [String: String]) throws {
        folder = try TemporaryFolder("qos-tree")
        for (path, content) in files { try folder.write(path, content) }
    }

    /// Changes a file; `nil` removes it.
    func write(_ path: String, _ content: String?) throws {
        if let content {
            try folder.write(path, content)
        } else {
            try FileManager.default.removeItem(atPath: folder[path])
        }
    }

    var root: FileRoot { FileRoot(folder.path) }
}
