internal import TreeScan

/// The paths that a sync leaves out. It remembers its answers about folders.
struct Exclusions {
    private let rules: ExcludeRules
    private var folders: [RelativePath: Bool] = [.root: false]

    init(_ rules: ExcludeRules) {
        self.rules = rules
    }

    /// Whether an entry, or a folder above it, is left out.
    mutating func contain(_ path: RelativePath, isFolder: Bool) -> Bool {
        guard !rules.isEmpty else { return false }
        return containFolder(path.parent) || rules.match(path, isFolder: isFolder)
    }

    /// Whether a name is left out. The sides, and the archive, may have entries of other kinds under it.
    mutating func contain(_ name: PlannedName) -> Bool {
        guard !rules.isEmpty else { return false }
        let kinds = Set([name.archived?.kind, name.sides.a?.kind, name.sides.b?.kind].compactMap(\.self))
        for kind in kinds where contain(name.path, isFolder: kind == .directory) { return true }
        return false
    }

    private mutating func containFolder(_ path: RelativePath) -> Bool {
        if let known = folders[path] { return known }
        let answer = containFolder(path.parent) || rules.match(path, isFolder: true)
        folders[path] = answer
        return answer
    }
}
