internal import TreeScan

/// Makes a plan from the archive and a scan of each side.
struct Planner {
    let reconciler: Reconciler
    /// The date in the names of conflicts.
    let date: String
    let archive: [ArchiveEntry]
    let scans: Pair<SideScan>

    private var plan = SyncPlan()
    /// Names that are in step, of files that have several on a side.
    private var inStep: [PlannedName] = []
    /// Folders that are in step, of which something beside the metadata may have changed.
    private var otherFolders: [PlannedName] = []
    private var blocked: Set<RelativePath> = []
    private var exclusions: Exclusions
    /// The entries that are left out, without those below them.
    private var excluded: Set<RelativePath> = []

    init(
        reconciler: Reconciler, date: String, archive: [ArchiveEntry], a: SideScan, b: SideScan,
        leavingOut rules: ExcludeRules = .none
    ) {
        exclusions = Exclusions(rules)
        self.reconciler = reconciler
        self.date = date
        self.archive = archive
        scans = Pair(a: a, b: b)
    }

    /// Makes the plan.
    ///
    /// - Parameter look: Looks at the bytes of files. It is asked only if sizes are the same, and times leave a doubt.
    mutating func plan(_ look: ContentLook) async throws -> SyncPlan {
        plan = SyncPlan()
        inStep = []
        otherFolders = []
        plan.totals = Pair(a: scans.a.entries.count, b: scans.b.entries.count)
        plan.archived = archive.count
        plan.skipped = scans.a.skipped + scans.b.skipped
        blocked = scans.a.blocked.union(scans.b.blocked)
        try await decideEach(look)
        keepNeededFolders()
        try await findRenames(look)
        try await planAttributes(look)
        refuseFoldedNames()
        nameConflicts()
        planLinks()
        plan.actions = actions()
        return plan
    }

    // MARK: Decisions

    /// Walks through the three lists together. All are in the order of bytes.
    private mutating func decideEach(_ look: ContentLook) async throws {
        var (row, first, second) = (0, 0, 0)
        let (entriesA, entriesB) = (scans.a.entries, scans.b.entries)
        while true {
            var path = row < archive.count ? archive[row].path : nil
            if first < entriesA.count { path = path.map { min($0, entriesA[first].path) } ?? entriesA[first].path }
            if second < entriesB.count { path = path.map { min($0, entriesB[second].path) } ?? entriesB[second].path }
            guard let path else { return }
            var name = PlannedName(
                path: path, archived: nil, sides: Pair(a: nil, b: nil),
                decision: Decision(outcome: .keep, changeA: .none, changeB: .none, reason: ""))
            if row < archive.count, archive[row].path == path {
                name.archived = archive[row]
                row += 1
            }
            if first < entriesA.count, entriesA[first].path == path {
                name.sides.a = entriesA[first]
                first += 1
            }
            if second < entriesB.count, entriesB[second].path == path {
                name.sides.b = entriesB[second]
                second += 1
            }
            if exclusions.contain(name) {
                leaveOut(name)
                continue
            }
            guard !isBlocked(path) else { continue }
            try await decide(&name, look)
            if name.decision.outcome == .keep {
                plan.unchanged += 1
                if name.hasSeveralNames { inStep.append(name) }
                if name.hasOtherInode { otherFolders.append(name) }
            } else {
                plan.names.append(name)
            }
        }
    }

    /// Leaves a name as it is, and forgets it. If it comes back, it is as at a first run: nothing of it is removed.
    private mutating func leaveOut(_ name: PlannedName) {
        for side in Side.allCases where name.sides[side] != nil { plan.totals[side] -= 1 }
        if name.sides.a != nil || name.sides.b != nil { excluded.insert(name.path) }
        guard name.archived != nil else { return }
        plan.archived -= 1
        var name = name
        name.decision.outcome = .forget
        name.decision.reason = "left out"
        plan.names.append(name)
    }

    private func isBlocked(_ path: RelativePath) -> Bool {
        guard !blocked.isEmpty else { return false }
        return blocked.contains(path) || path.ancestors.contains { blocked.contains($0) }
    }

    private func decide(_ name: inout PlannedName, _ look: ContentLook) async throws {
        if let row = name.archived, let a = name.sides.a, let b = name.sides.b, row.kind == a.kind, row.kind == b.kind,
            Doubt(a, row.sides.a) == .none, Doubt(b, row.sides.b) == .none, a.target == row.target,
            b.target == row.target, row.sides.a.metadata == a.metadata, row.sides.b.metadata == b.metadata
        {
            return
        }
        let table = VersionTable(archived: name.archived, a: name.sides.a, b: name.sides.b)
        let versions = try await table.versions(look)
        var reconciler = reconciler
        if !table.isCertain { reconciler.policy = .keepBoth }
        let archived = name.archived.map { row in
            ArchivedFacts(
                a: Facts(content(row.kind, row.target, .archived), row.sides.a.metadata),
                b: Facts(content(row.kind, row.target, .archived), row.sides.b.metadata))
        }
        let facts = Pair(
            a: name.sides.a.map { Facts(content($0.kind, $0.target, versions.a), $0.metadata) },
            b: name.sides.b.map { Facts(content($0.kind, $0.target, versions.b), $0.metadata) })
        name.decision = reconciler.decide(archived: archived, a: facts.a, b: facts.b)
        if versions.a == .archived, versions.b == .archived { name.digest = name.archived?.digest }
        // The content was found to be as before by reading it: the archive notes the new times.
        if name.decision.outcome == .keep, name.archived != nil { name.decision.outcome = .record }
    }

    private func content(_ kind: FileKind, _ target: [UInt8], _ version: FileVersion) -> Content {
        switch kind {
        case .directory: .folder
        case .symbolicLink: .link(target)
        case .regular: .file(version)
        case .fifo, .socket, .device: .pipe
        }
    }

    // MARK: Folders

    /// Keeps a folder if entries below it stay, or come. A folder that stays only for what is left out, or could not
    /// be read, does not come back on the side that removed it.
    private mutating func keepNeededFolders() {
        guard plan.names.contains(where: { $0.mayRemoveFolder }) else { return }
        var needed: Set<RelativePath> = []
        var unknown: Set<RelativePath> = []
        var holding: Set<RelativePath> = []
        var told: Set<RelativePath> = []
        for path in blocked { unknown.formUnion(path.ancestors) }
        for path in excluded { holding.formUnion(path.ancestors) }
        for index in plan.names.indices.reversed() {
            let name = plan.names[index]
            if name.mayRemoveFolder {
                if needed.contains(name.path) {
                    plan.names[index].keepFolder()
                } else if unknown.contains(name.path) || holding.contains(name.path) {
                    let what = unknown.contains(name.path) ? "could not be read" : "are left out"
                    plan.names[index].decision.outcome = .skip
                    plan.names[index].decision.reason = "it holds entries that \(what)"
                    // The folders above stay, too, which goes without saying.
                    if !told.contains(name.path) {
                        plan.skipped.append("\(name.path.display): it holds entries that \(what), so it stays")
                    }
                    told.formUnion(name.path.ancestors)
                }
            }
            if plan.names[index].staysOrComes, let folder = name.path.ancestors.first { needed.insert(folder) }
        }
    }

    // MARK: Renames

    /// Finds files that one side renamed: gone under one name, new under another, with the inode, length and time of
    /// before. The bytes are compared, as a file system gives the numbers of inodes away again.
    private mutating func findRenames(_ look: ContentLook) async throws {
        for side in reconciler.mode == .mirror ? [Side.a] : Side.allCases {
            var gone: [UInt64: Int] = [:]
            for (index, name) in plan.names.enumerated() {
                guard name.decision.outcome == .delete(on: side.other), name.archived?.kind == .regular,
                    let row = name.archived
                else { continue }
                gone[row.sides[side].inode] = index
            }
            guard !gone.isEmpty else { continue }
            for index in plan.names.indices {
                let name = plan.names[index]
                guard case .copy(side.other, _, _) = name.decision.outcome, name.archived == nil,
                    name.sides[side.other] == nil, let entry = name.sides[side], entry.kind == .regular,
                    let before = gone[entry.stamp.inode], let row = plan.names[before].archived,
                    row.sides[side].size == entry.stamp.size,
                    row.sides[side].metadata.modified == entry.metadata.modified,
                    let across = plan.names[before].sides[side.other], Doubt(across, row.sides[side.other]) != .content,
                    across.stamp.size == entry.stamp.size
                else { continue }
                let isSame = side == .a ? try await look.isEqual(entry, across) : try await look.isEqual(across, entry)
                guard isSame else { continue }
                gone[entry.stamp.inode] = nil
                plan.names[index].decision.outcome = .rename(on: side.other, from: row.path.bytes)
                plan.names[index].decision.reason = "renamed on \(side.rawValue)"
                plan.names[index].otherName = row.path
                plan.names[index].renamed = across
                plan.names[index].digest = row.digest
                plan.names[before].decision.outcome = .renamedAway
                plan.names[before].decision.reason = "renamed on \(side.rawValue)"
                plan.names[before].otherName = entry.path
            }
        }
    }

    // MARK: Names

    /// Refuses new names on a side that takes them for others.
    private mutating func refuseFoldedNames() {
        for side in Side.allCases where scans[side].foldsCase {
            let leaving = Set(plan.names.filter { $0.leaves(side) }.map(\.path))
            var holders: [String: RelativePath] = [:]
            for entry in scans[side].entries where !leaving.contains(entry.path) {
                holders[entry.path.folded] = entry.path
            }
            let coming = plan.names.indices.filter { plan.names[$0].comes(to: side) }
            let counts = Dictionary(coming.map { (plan.names[$0].path.folded, 1) }, uniquingKeysWith: +)
            var refused: Set<RelativePath> = []
            for index in coming {
                let path = plan.names[index].path
                let isBelow = path.ancestors.contains { refused.contains($0) }
                let holder = holders[path.folded]
                guard isBelow || holder != nil || counts[path.folded, default: 1] > 1 else { continue }
                refused.insert(path)
                if case .rename = plan.names[index].decision.outcome, let old = plan.names[index].otherName,
                    let away = plan.names.firstIndex(where: { $0.path == old })
                {
                    plan.names[away].decision.outcome = .skip
                }
                plan.names[index].decision.outcome = .skip
                plan.names[index].decision.reason = "\(side.rawValue) takes the name for another one"
                plan.skipped.append(
                    "\(path.display): \(side.rawValue) does not tell capital from small letters, and "
                        + "\(holder.map(\.display) ?? "another new name") is the same there. Rename one of them")
            }
        }
    }

    private mutating func nameConflicts() {
        var given: Set<RelativePath> = []
        for index in plan.names.indices {
            guard case .keepBoth(let side) = plan.names[index].decision.outcome else { continue }
            let name = ConflictName.make(for: plan.names[index].path, of: side, date: date) { candidate in
                given.contains(candidate) || scans.a.entry(candidate) != nil || scans.b.entry(candidate) != nil
                    || isBlocked(candidate)
            }
            given.insert(name)
            plan.names[index].otherName = name
        }
    }

    // MARK: Attributes

    /// Looks at the extended attributes of entries whose inode has changed, and decides about them.
    private mutating func planAttributes(_ look: ContentLook) async throws {
        let folders = otherFolders.map { name in
            var name = name
            name.decision.outcome = .describe(a: nil, b: nil)
            return name
        }
        var wanted = Pair<[RelativePath]>(a: [], b: [])
        for name in plan.names + folders {
            for side in name.sidesWithAttributes(mode: reconciler.mode) { wanted[side].append(name.path) }
        }
        guard !wanted.a.isEmpty || !wanted.b.isEmpty else { return }
        let prints = Pair(
            a: try await look.attributes(wanted.a, .a), b: try await look.attributes(wanted.b, .b))
        for index in plan.names.indices { merge(&plan.names[index], prints) }
        for var name in folders {
            merge(&name, prints)
            guard Side.allCases.contains(where: { !name.attributeChanges[$0].isEmpty }) else { continue }
            plan.unchanged -= 1
            plan.names.append(name)
        }
        plan.names.sort { $0.path < $1.path }
    }

    private func merge(_ name: inout PlannedName, _ prints: Pair<[RelativePath: AttributePrint]>) {
        for side in Side.allCases { name.attributes[side] = prints[side][name.path] }
        guard let a = name.sides.a, let b = name.sides.b, let printA = name.attributes.a,
            let printB = name.attributes.b, name.mergesAttributes
        else { return }
        let archived = Pair(a: name.archived?.sides.a.attributes, b: name.archived?.sides.b.attributes)
        let merge = AttributeMerge(
            archived: archived, mode: reconciler.mode,
            prefersB: reconciler.winner(Facts(.folder, a.metadata), Facts(.folder, b.metadata)) == .b)
        name.attributeChanges = merge.changes(a: printA, b: printB)
        switch name.decision.outcome {
        case .record where Side.allCases.contains(where: { !name.attributeChanges[$0].isEmpty }):
            name.decision.outcome = .describe(a: nil, b: nil)
        case .copy(let side, _, _):
            // It gets the attributes with the content, and nothing is known that it had before.
            name.attributeChanges[side] = AttributeChange()
            if archived[side] == nil || archived[side.other] == nil {
                name.attributeChanges[side.other] = AttributeChange()
            }
            name.attributes[side] = nil
        default: break
        }
        if case .describe = name.decision.outcome, name.decision.reason.isEmpty || name.decision.reason == "in step" {
            name.decision.reason = "same content, other attributes"
        }
    }

    // MARK: Links

    /// Decides about the names of files that have several on a side.
    private mutating func planLinks() {
        noteOuterNames()
        let archived = Dictionary(
            plan.names.filter { $0.decision.outcome == .renamedAway }.map { ($0.path, $0.archived) },
            uniquingKeysWith: { first, _ in first })
        var all = inStep.map { $0.linkedName(archived: $0.archived) }
        for name in plan.names {
            guard name.hasSeveralNames || name.renamed != nil else { continue }
            let row = name.renamed == nil ? name.archived : name.otherName.flatMap { archived[$0] ?? nil }
            all.append(name.linkedName(archived: row))
            all.append(name.linkedOtherName)
        }
        let names = all.compactMap(\.self).sorted { $0.path < $1.path }
        guard names.contains(where: { $0.files.a != nil || $0.files.b != nil }) else { return }
        let links = LinkPlanner(names, mode: reconciler.mode)
        var known = Dictionary(plan.names.indices.map { (plan.names[$0].path, $0) }, uniquingKeysWith: { $1 })
        let digests = Dictionary(inStep.map { ($0.path, $0.archived?.digest) }, uniquingKeysWith: { $1 })
        for name in inStep where links.steps.a[name.path] != nil || links.steps.b[name.path] != nil {
            var name = name
            name.digest = name.archived?.digest
            name.decision.outcome = .link
            name.decision.reason = "several names of one file"
            known[name.path] = plan.names.count
            plan.names.append(name)
            plan.unchanged -= 1
        }
        for index in plan.names.indices {
            for side in Side.allCases {
                let name = plan.names[index]
                plan.names[index].links[side] = links.steps[side][name.path]
                if let other = name.otherName, case .keepBoth = name.decision.outcome {
                    plan.names[index].otherLinks[side] = links.steps[side][other]
                }
                // The content is that of a file that both sides have.
                if case .join(let target) = plan.names[index].links[side], name.digest == nil {
                    plan.names[index].digest = known[target].map { plan.names[$0].digest } ?? digests[target] ?? nil
                }
            }
        }
        plan.names.sort { $0.path < $1.path }
        noteTouchedLinks(links.groups)
    }

    /// A step on one name of a file changes the inode of the others.
    private mutating func noteTouchedLinks(_ groups: [[RelativePath]]) {
        let changed = Set(plan.names.filter { $0.decision.outcome != .record }.map(\.path))
        for group in groups where group.contains(where: { changed.contains($0) }) {
            plan.touchedLinks.formUnion(group)
        }
        // One name of a file goes, and others stay.
        for side in Side.allCases {
            let gone = plan.names.compactMap { name in
                name.leaves(side) ? name.sides[side].map { LinkedName.File($0) } : nil
            }
            guard !gone.isEmpty else { continue }
            let files = Set(gone)
            for name in inStep + plan.names {
                if let entry = name.sides[side], entry.links > 1, files.contains(LinkedName.File(entry)) {
                    plan.touchedLinks.insert(name.path)
                }
            }
        }
    }

    /// Tells of files that get a new content, and have names outside of the folder: those keep the old one.
    private mutating func noteOuterNames() {
        for side in Side.allCases {
            var counts: [LinkedName.File: UInt64] = [:]
            for entry in scans[side].entries where entry.kind == .regular && entry.links > 1 {
                counts[LinkedName.File(entry), default: 0] += 1
            }
            for name in plan.names {
                guard case .copy(side, _, _) = name.decision.outcome, let old = name.sides[side], old.kind == .regular,
                    old.links > counts[LinkedName.File(old), default: old.links]
                else { continue }
                plan.notes.append(
                    "\(side.rawValue)/\(name.path.display): its file has a name outside of the folder, which keeps "
                        + "the old version")
            }
        }
    }

    // MARK: Actions

    private func actions() -> [SyncAction] {
        var steps = ActionSteps()
        for name in plan.names { steps.add(name) }
        return steps.inOrder
    }
}

/// What is not known of a file without reading it.
enum Doubt: Hashable {
    /// It is as in the archive.
    case none
    /// The content may have changed.
    case content
    /// The length has changed.
    case length

    init(_ entry: Observation, _ state: ArchiveEntry.SideState) {
        guard entry.kind == .regular else {
            self = .none
            return
        }
        guard entry.stamp.size == state.size else {
            self = .length
            return
        }
        let isAsBefore =
            entry.stamp.modified == state.metadata.modified && entry.stamp.changed == state.changed
            && entry.stamp.inode == state.inode && !state.isRacy
        self = isAsBefore ? .none : .content
    }
}

extension RelativePath {
    /// The folders above, from the nearest upwards, without the root.
    var ancestors: [RelativePath] {
        bytes.indices.reversed().filter { bytes[$0] == UInt8(ascii: "/") }.map {
            RelativePath(bytes: Array(bytes[..<$0]))
        }
    }

    /// The name as file systems see it that do not tell capital from small letters.
    var folded: String { description.lowercased() }
}
