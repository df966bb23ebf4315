internal import Glibc
internal import TreeScan

/// A folder of which entries are still being saved.
struct SavedFolder {
    /// Its own record; the content comes at the end.
    var node: TreeNode
    let path: RelativePath
    /// The number of the folder above; nil for the root.
    let parent: Int?
    /// The records of the entries that are saved.
    var entries: [TreeNode] = []
    /// The number of entries under way.
    var pending = 0
    /// Whether the walk has left it.
    var isLeft = false
    /// The entries of the same folder in earlier trees, by name.
    let earlier: [[[UInt8]: TreeNode]]

    /// The records in the order of the names' bytes, so that an unchanged folder is the same blob.
    var sortedEntries: [TreeNode] {
        entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }
}

/// The end of the saving of one file.
enum SavedFile: Sendable {
    case saved(TreeNode, wasRead: Bool, note: String?)
    case vanished
    case failed(String)

    /// The end of a file that could not be read.
    init(_ failure: FileSystemFailure) {
        self = failure.isGone || failure.code == FileReading.wrongKind ? .vanished : .failed("\(failure)")
    }
}

extension FileSystemFailure {
    /// Whether the entry is gone, or another is in its place.
    ///
    /// ESTALE does not say so: all entries of a network folder have it whose server has lost the folder.
    var isGone: Bool { isVanished && code != ESTALE }
}
