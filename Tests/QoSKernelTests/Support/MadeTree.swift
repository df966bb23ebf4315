import Foundation
import QoSKernel

/// A directory with files that stand for the kernel's; removed with the value.
final class MadeTree {
    private let directory: URL

    /// - Parameter files: contents by path as on a real machine, `/proc/self/cgroup`.
    init(_ files: [String: String]) throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("qos-tree-\(UUID().uuidString)", isDirectory: true)
        for (path, content) in files {
            let file = directory.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content.utf8).write(to: file)
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    var root: FileRoot { FileRoot(directory.path) }
}
