internal import Glibc
internal import TreeScan

/// A place for a restore, below a folder that it must not leave.
public struct RestoreTarget: Codable, Sendable, Hashable {
    /// A place that is outside, or cannot be made.
    public struct Failure: Error, CustomStringConvertible {
        /// The text, with what to do.
        public let description: String
    }

    /// The folder that no restore leaves.
    public var folder: String
    /// The path below it, as a text of `PathText`. It names a folder, or nothing yet.
    public var path: String

    /// Makes a target.
    public init(below folder: String, path: String) {
        self.folder = folder
        self.path = path
    }

    /// The whole path.
    public var whole: String { "\(folder)/\(path)" }

    /// Checks that the target is a folder below the folder, or can be made there. No link counts: one that an earlier
    /// restore wrote must not lead this one elsewhere.
    ///
    /// - Throws: ``Failure``, or `TreeScanError` if the folder itself cannot be opened.
    public func check() throws {
        let root = try RootFolder(folder)
        // The bytes that the restore is going to use: a text may write a dot or a slash as `\u{2E}` or `\u{2F}`.
        let components = RelativePath(argument: path).components.map { Array($0) }
        let isSafe = components.allSatisfy { $0 != Array(".".utf8) && $0 != Array("..".utf8) && !$0.contains(0) }
        // A slash that is written in another way is a mistake, or worse.
        let written = RelativePath(path).components
        guard components.count == written.count, !components.isEmpty, isSafe else {
            throw Failure(description: "The target \(path) is not below \(folder). Name a folder there.")
        }
        var part = RelativePath.root
        for (number, name) in components.enumerated() {
            part = part.appending(name)
            do throws(FileSystemFailure) {
                close(try root.descriptor(of: part, for: .listing))
            } catch {
                // The restore makes the last folder itself.
                if error.code == ENOENT, number == components.count - 1 { return }
                throw Failure(
                    description: "\(part.display) is missing, a link, or no folder. Make the folder, or name another "
                        + "target below the folder for restores.")
            }
        }
    }
}
