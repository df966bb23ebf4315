import Foundation
import Glibc

/// A second descriptor of an open file of this process, as a child process has it before it runs its program.
public final class SharedOpenFile {
    private let descriptor: Int32

    /// Shares the open file at `path`; nil if this process has none.
    public init?(path: String) {
        let folder = "/proc/self/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let number = numbers.first {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
        }
        guard let number, let open = Int32(number) else { return nil }
        descriptor = dup(open)
    }

    deinit { close(descriptor) }
}
