/// A path and the folders to watch for it. A pure value: the caller says what a path names.
///
/// A folder is watched itself, and from its parent, because it may be replaced. A file is watched from its parent. For a
/// path that names nothing, its nearest existing folder is watched, until the next part of the path appears there.
struct WatchedPath: Sendable, Hashable {
    /// A folder to watch.
    struct Need: Sendable, Hashable {
        var folder: String
        /// The only entry that matters; `nil` for all.
        var name: String?
    }

    /// What the path named at the last look.
    let kind: WatchedFileKind
    let needs: [Need]

    /// Looks at an absolute path.
    init(_ path: String, kind: (String) -> WatchedFileKind) {
        let path = Self.normalized(path)
        self.kind = kind(path)
        switch self.kind {
        case .folder:
            let own = Need(folder: path, name: nil)
            needs = path == "/" ? [own] : [own, Need(folder: Self.parent(of: path), name: Self.name(of: path))]
        case .file:
            needs = [Need(folder: Self.parent(of: path), name: Self.name(of: path))]
        case .missing:
            var next = path
            while next != "/", kind(Self.parent(of: next)) != .folder { next = Self.parent(of: next) }
            needs = [Need(folder: Self.parent(of: next), name: Self.name(of: next))]
        }
    }

    /// What a change of a folder means for a path.
    enum Effect: Sendable, Hashable {
        /// Nothing.
        case none
        /// The path may name something else: look at it again.
        case look
        /// The path has changed. Look at it, too.
        case changed
    }

    /// Returns what a change of a folder means for the path.
    func effect(of change: FolderChange, in folder: String) -> Effect {
        var effect = Effect.none
        for need in needs where need.folder == folder {
            let isUnclear =
                change.hasMore || change.failure != nil || change.names.isEmpty
                || change.names.contains(Self.name(of: folder))
            guard let name = need.name else { return .changed }
            if isUnclear || change.names.contains(name) {
                if kind != .missing { return .changed }
                effect = .look
            }
        }
        return effect
    }

    /// Returns the folders whose watches a change has made useless: the folder itself, or an entry that is watched.
    ///
    /// The kernel watches a folder, whatever its name is. So one that has come anew needs a new watch.
    static func outdated(by change: FolderChange, in folder: String, among watched: some Sequence<String>) -> [String] {
        if change.failure != nil || change.names.contains(name(of: folder)) { return [folder] }
        return watched.filter { $0 != folder && parent(of: $0) == folder && change.names.contains(name(of: $0)) }
    }

    /// Removes doubled slashes, those at the end, and parts that are a single dot.
    static func normalized(_ path: String) -> String {
        "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    /// The folder above a normalized path; that of the root is the root.
    static func parent(of path: String) -> String {
        guard let end = path.lastIndex(of: "/"), end != path.startIndex else { return "/" }
        return String(path[..<end])
    }

    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
