/// What the ignore files of one folder, and of the folders above it, leave out of that folder.
///
/// It is for a look at one folder; a `TreeScanner` reads each ignore file of a tree only once.
public struct IgnoredEntries {
    private let stack: IgnoreStack

    /// Reads the ignore files.
    ///
    /// - Parameters:
    ///   - folder: The folder, below the root.
    ///   - fileNames: The names of the ignore files, the strongest first; without one, nothing is read.
    /// - Throws: `FileSystemFailure` if a folder cannot be opened. An ignore file that cannot be read has no effect.
    /// - Complexity: O(depth) calls of the system.
    public init(of folder: RelativePath, in root: RootFolder, fileNames: [String]) throws(FileSystemFailure) {
        var stack = IgnoreStack(fileNames: fileNames)
        if !fileNames.isEmpty {
            var place = RelativePath.root
            try Self.enter(place, in: root, &stack)
            for name in folder.components {
                place = place.appending(Array(name))
                try Self.enter(place, in: root, &stack)
            }
        }
        self.stack = stack
    }

    private static func enter(
        _ path: RelativePath, in root: RootFolder, _ stack: inout IgnoreStack
    ) throws(FileSystemFailure) {
        stack.enter(try OpenFolder(owning: try root.descriptor(of: path, for: .listing), path: path))
    }

    /// Whether an entry of the folder is left out. O(patterns).
    public func contains(_ name: [UInt8], isFolder: Bool) -> Bool { stack.isIgnored(name, isFolder: isFolder) }
}
