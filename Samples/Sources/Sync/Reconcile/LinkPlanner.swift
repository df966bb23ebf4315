internal import TreeScan

/// A regular file's name that stays or comes, and that is one of several names of the file on a side.
struct LinkedName {
    /// A file of one side. Its number alone may be that of another file, on another file system.
    struct File: Hashable {
        var device: UInt64
        var inode: UInt64

        init(_ entry: Observation) {
            device = entry.stamp.device
            inode = entry.stamp.inode
        }
    }

    var path: RelativePath
    /// The file under the name on each side, before contents are written; nil if there is none.
    var files: Pair<File?>
    /// The side whose content goes to the other one; nil if both have it.
    var origin: Side?
    /// The inodes of both sides at the end of the last sync; nil if it saw no such file.
    var archived: Pair<UInt64>?

    /// The file that the name has on a side if no step makes it one name of another file.
    func remaining(on side: Side) -> File? { origin == nil || origin == side ? files[side] : nil }
}

/// Decides which names become names of one file. A value: a test needs no file system.
///
/// - Names that are one file on a side become one file on the other one, if they get its content.
/// - If they were one file on both sides at the last sync, and a side has made several of it, they become several.
/// - In mode mirror, A decides.
struct LinkPlanner {
    /// What one name becomes on one side.
    enum Step: Hashable {
        /// A further name of a file that is there by then.
        case join(RelativePath)
        /// A file of its own, with the content of the other side.
        case separate
    }

    private let names: [LinkedName]
    private let mode: SyncMode
    private var parents: [Int]

    /// The steps of each side, by name.
    private(set) var steps = Pair<[RelativePath: Step]>(a: [:], b: [:])
    /// The names of each file, in the order of bytes.
    private(set) var groups: [[RelativePath]] = []

    /// Decides.
    ///
    /// - Parameter names: In the order of the bytes of their paths. Each path is there once.
    init(_ names: [LinkedName], mode: SyncMode) {
        self.names = names
        self.mode = mode
        parents = Array(names.indices)
        for side in mode == .mirror ? [Side.a] : Side.allCases {
            for file in files(of: Array(names.indices), on: side) where file.names.count > 1 {
                joinNames(file.names, on: side)
            }
        }
        var classes: [Int: [Int]] = [:]
        for index in names.indices { classes[root(index), default: []].append(index) }
        let sorted = classes.values.sorted { $0[0] < $1[0] }
        for side in Side.allCases { plan(sorted, on: side) }
        groups = sorted.map { $0.map { names[$0].path } }
    }

    /// The files that names remain to be on a side, each with its names.
    private func files(of indices: [Int], on side: Side) -> [(file: LinkedName.File, names: [Int])] {
        var places: [LinkedName.File: Int] = [:]
        var found: [(file: LinkedName.File, names: [Int])] = []
        for index in indices {
            guard let file = names[index].remaining(on: side) else { continue }
            if let place = places[file] {
                found[place].names.append(index)
            } else {
                places[file] = found.count
                found.append((file, [index]))
            }
        }
        return found
    }

    // MARK: Groups

    /// Joins the names of one file of a side, but for those that the other side has taken apart since the last sync.
    private mutating func joinNames(_ indices: [Int], on side: Side) {
        struct Part: Hashable {
            var archived: [UInt64]
            var file: LinkedName.File
        }
        var parts: [Part: [Int]] = [:]
        var counts: [[UInt64]: Int] = [:]
        func part(_ index: Int) -> Part? {
            let name = names[index]
            guard mode == .twoWay, name.origin == nil, let archived = name.archived, let file = name.files[side.other]
            else { return nil }
            return Part(archived: [archived.a, archived.b], file: file)
        }
        for index in indices {
            guard let part = part(index) else { continue }
            if parts[part] == nil { counts[part.archived, default: 0] += 1 }
            parts[part, default: []].append(index)
        }
        var others: [Int] = []
        var first: Int?
        for index in indices {
            guard let part = part(index), counts[part.archived, default: 0] > 1, let all = parts[part] else {
                others.append(index)
                continue
            }
            first = first ?? index
            join(index, all[0])
        }
        guard let start = others.first else { return }
        for index in others { join(index, start) }
        // A name that was not taken apart stays one of the file.
        if let first { join(first, start) }
    }

    private mutating func root(_ index: Int) -> Int {
        var root = index
        while parents[root] != root { root = parents[root] }
        // The next way is short.
        var next = index
        while next != root {
            let above = parents[next]
            parents[next] = root
            next = above
        }
        return root
    }

    private mutating func join(_ one: Int, _ other: Int) {
        let (first, second) = (root(one), root(other))
        parents[max(first, second)] = min(first, second)
    }

    // MARK: Steps

    private mutating func plan(_ classes: [[Int]], on side: Side) {
        // A file that names of several groups have stays that of the group with the most of them.
        var owners: [LinkedName.File: (group: Int, count: Int)] = [:]
        let files = classes.map { self.files(of: $0, on: side) }
        for (group, found) in files.enumerated() {
            for (file, names) in found where names.count > owners[file]?.count ?? 0 {
                owners[file] = (group, names.count)
            }
        }
        for (group, members) in classes.enumerated() {
            var kept: (file: LinkedName.File, names: [Int])?
            for found in files[group] where owners[found.file]?.group == group {
                if found.names.count > kept?.names.count ?? 0 { kept = found }
            }
            let written = members.first { names[$0].origin == side.other }
            // All of them have a file that stays another group's.
            if kept == nil, written == nil, names[members[0]].files[side.other] != nil {
                steps[side][names[members[0]].path] = .separate
            }
            let first = kept?.names[0] ?? written ?? members[0]
            for index in members where index != first {
                if let kept, names[index].remaining(on: side) == kept.file { continue }
                steps[side][names[index].path] = .join(names[first].path)
            }
        }
    }
}
