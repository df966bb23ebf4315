internal import SafeFiles
internal import TreeScan

/// The folders that one run saves.
///
/// One folder is the root of its snapshot. Of several ones the root is `/`, and the way to each of them is in the
/// snapshot with the metadata that it has, but without other entries.
struct SourceTree: Sendable {
    /// One of the folders.
    struct Part: Sendable {
        /// The path, absolute and without links if there are several.
        let folder: String
        let root: RootFolder
        let saver: FileSaver
        /// The names of the folders above it, from `/` on, and its own; empty if it is the root of the snapshot.
        let way: [[UInt8]]
    }

    let parts: [Part]

    /// Whether the root is `/`, and the parts are below it.
    var hasWays: Bool { parts.count > 1 }

    /// The paths of some folders as a snapshot keeps them: each once, without those in others, in the order of bytes.
    ///
    /// - Throws: `TreeScanError`.
    static func paths(_ folders: [String]) throws -> [String] {
        guard folders.count > 1 else { return folders }
        let real = try folders.map { folder in
            // Opened for its errors.
            let root = try RootFolder(folder)
            return RootFolder.realPath(root.path) ?? folder
        }
        // By bytes: texts of Swift are equal if they are different ways to write the same letters.
        let each = Dictionary(real.map { (Array($0.utf8), $0) }) { first, _ in first }
        let outer = each.values.filter { path in
            !each.values.contains { !$0.utf8.elementsEqual(path.utf8) && RootFolder.contains($0, path) }
        }
        return outer.sorted { way(to: $0).lexicographicallyPrecedes(way(to: $1), by: Self.precedes) }
    }

    /// The names on the way to an absolute path.
    static func way(to path: String) -> [[UInt8]] {
        RelativePath(bytes: Array(PathText.bytes(path).drop { $0 == UInt8(ascii: "/") })).components.map { Array($0) }
    }

    /// Opens the folders.
    ///
    /// - Parameter paths: As `paths(_:)` returns them.
    init(_ paths: [String], sink: BlobSink, options: BackupOptions) throws {
        parts = try paths.map { path in
            let root = try RootFolder(path)
            return Part(
                folder: path, root: root, saver: FileSaver(root: root, sink: sink, options: options),
                way: paths.count > 1 ? Self.way(to: path) : [])
        }
    }

    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
}

extension Snapshot {
    /// The path that the entries of the snapshot are below: the folder, or `/` if there are several.
    public var base: String { folders.count > 1 ? "/" : folder }

    /// Whether an entry of the snapshot is only on the way to its folders.
    func isOnWay(_ path: RelativePath) -> Bool {
        guard folders.count > 1 else { return false }
        let names = path.components.map { Array($0) }
        return folders.contains { folder in
            let way = SourceTree.way(to: folder)
            return way.count > names.count && way.starts(with: names)
        }
    }

    /// The path of an entry below the folder that it belongs to: patterns count from there.
    func pathInFolder(_ path: RelativePath) -> RelativePath {
        guard folders.count > 1 else { return path }
        let names = path.components.map { Array($0) }
        let way = folders.lazy.map { SourceTree.way(to: $0) }.first { names.starts(with: $0) }
        return RelativePath(bytes: Array(names.dropFirst(way?.count ?? 0).joined(separator: [UInt8(ascii: "/")])))
    }
}
